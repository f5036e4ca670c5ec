// Happens-before by brute force: every event of a small history is a node, every rule an edge, and
// the relation is their closure. It shares only the names of scopes and orders with the clocks.
#pragma once
#include <algorithm>
#include <bitset>
#include <vector>

#include "gpu/check/order/actor.hpp"

namespace inflight::brute_force {

using order::Order;
using order::Place;
using order::Scope;

// The first operation of a release pattern.
struct Head {
  int node;
  Scope scope;
  Place place;
  bool everywhere = false;  // a copy's completion
  bool operator==(const Head& o) const {
    return node == o.node && scope == o.scope && everywhere == o.everywhere;
  }
};
using Heads = std::vector<Head>;
inline void add_new(Heads& to, const Heads& more) {
  for (const Head& h : more)
    if (std::find(to.begin(), to.end(), h) == to.end()) to.push_back(h);
}

struct Read {
  int location;
  Heads heads;
};
// Halves of release patterns that threads share when they synchronise.
struct Halves {
  Heads fences;
  std::vector<Read> reads;
  void add(const Halves& more) {
    add_new(fences, more.fences);
    for (const Read& r : more.reads) {
      const auto at = std::find_if(reads.begin(), reads.end(),
                                   [&](const Read& x) { return x.location == r.location; });
      if (at == reads.end())
        reads.push_back(r);
      else
        add_new(at->heads, r.heads);
    }
  }
};

struct Touch {  // an access, a node
  int node = -1;
  Place place;
  int space = 0;
  unsigned begin = 0, end = 0;
  bool write = false, strong = false, async = false;
  Scope scope = Scope::cta;
};

class Graph {
 public:
  static constexpr int most = 1024;

  explicit Graph(std::vector<Place> threads)
      : threads_(std::move(threads)), mine_(threads_.size()) {}

  const Place& place(int thread) const { return threads_[static_cast<std::size_t>(thread)]; }

  // A thread's operation, after its last one.
  int step(int thread) {
    Mine& m = mine_[static_cast<std::size_t>(thread)];
    const int n = add();
    if (m.last >= 0) edge(m.last, n);
    return m.last = n;
  }
  // A copy's accesses after its issue.
  int beside(int issue) {
    const int n = add();
    edge(issue, n);
    return n;
  }
  // A morally strong read or update observes a write.
  void observe(int write, int by) {
    const auto w = static_cast<std::size_t>(write);
    if (observers_.size() <= w) observers_.resize(w + 1);
    observers_[w].push_back(by);
  }
  // Causality order: base causality order, or observation and then base causality order.
  bool causes(int a, int b) const {
    if (before(a, b)) return true;
    const auto w = static_cast<std::size_t>(a);
    return w < observers_.size() && std::any_of(observers_[w].begin(), observers_[w].end(),
                                                [&](int by) { return before(by, b); });
  }
  void edge(int from, int to) { before_[to] |= before_[from], before_[to].set(from); }
  bool before(int a, int b) const { return before_[b].test(a); }

  void fence(int thread, Order order, Scope scope) {
    Mine& m = mine_[static_cast<std::size_t>(thread)];
    const int n = step(thread);
    if (acquires(order))
      for (const Read& r : m.reads) take(r.heads, thread, scope, n);
    if (releases(order)) m.fences.push_back({n, scope, place(thread)});
  }
  void proxy_fence(int thread, bool shared, bool global) {
    const int n = step(thread);
    if (shared) fences_[0].push_back(n);
    if (global) fences_[1].push_back(n);
  }
  // A release operation counts as a fence for threads that synchronise with its thread.
  Halves halves(int thread) const {
    const Mine& m = mine_[static_cast<std::size_t>(thread)];
    Halves all{m.fences, m.reads};
    for (const auto& [where, head] : m.releases) add_new(all.fences, {head});
    return all;
  }
  void take(int thread, const Halves& met) {
    Mine& m = mine_[static_cast<std::size_t>(thread)];
    m.fences = met.fences;
    m.reads = met.reads;
    m.releases.clear();
  }
  // A thread's fences whose scope includes the cluster.
  std::vector<int> cluster_fences(int thread) const {
    std::vector<int> nodes;
    for (const Head& f : mine_[static_cast<std::size_t>(thread)].fences)
      if (f.scope >= Scope::cluster) nodes.push_back(f.node);
    return nodes;
  }
  // The heads of all release patterns that end with this write of the thread to `location`.
  Heads heads(int thread, int node, int location, Order order, Scope scope) {
    Mine& m = mine_[static_cast<std::size_t>(thread)];
    Heads all = m.fences;
    for (const auto& [where, head] : m.releases)
      if (where == location) all.push_back(head);
    if (releases(order)) {
      const Head own{node, scope, place(thread)};
      all.push_back(own);
      m.releases.push_back({location, own});
    }
    return all;
  }
  // A strong read that observes writes with these heads.
  void read(int thread, int node, int location, Order order, Scope scope, const Heads& heads) {
    Mine& m = mine_[static_cast<std::size_t>(thread)];
    m.reads.push_back({location, heads});
    if (!acquires(order)) return;
    for (const Read& r : m.reads)
      if (r.location == location) take(r.heads, thread, scope, node);
  }
  bool ordered(const Touch& x, const Touch& y) const {
    if (!causes(x.node, y.node)) return false;
    if (!x.write || x.async || !y.async) return true;
    for (const int f : fences_[x.space])
      if (causes(x.node, f) && before(f, y.node)) return true;
    return false;
  }
  bool race(const Touch& x, const Touch& y) const {
    if (x.space != y.space || x.begin >= y.end || y.begin >= x.end) return false;
    if (!x.write && !y.write) return false;
    const Scope between = level(x.place, y.place);
    if (x.strong && y.strong && x.begin == y.begin && x.end == y.end && x.scope >= between &&
        y.scope >= between)
      return false;
    return !ordered(x, y);
  }

 private:
  struct Mine {
    int last = -1;
    Heads fences;
    std::vector<std::pair<int, Head>> releases;
    std::vector<Read> reads;
  };
  int add() {
    before_.emplace_back();
    return static_cast<int>(before_.size()) - 1;
  }
  void take(const Heads& heads, int thread, Scope scope, int node) {
    for (const Head& h : heads) {
      const Scope between = level(h.place, place(thread));
      if (h.everywhere || (h.scope >= between && scope >= between)) edge(h.node, node);
    }
  }
  std::vector<Place> threads_;
  std::vector<Mine> mine_;
  std::vector<std::bitset<most>> before_;
  std::vector<int> fences_[2];
  std::vector<std::vector<int>> observers_;  // of each write
};

}  // namespace inflight::brute_force
