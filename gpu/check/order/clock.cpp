// The trie behind a vector clock.
#include "gpu/check/order/clock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <new>
#include <utility>

#include "gpu/check/order/lane_epochs.hpp"
#include "gpu/host/of_this_thread.hpp"

namespace inflight::order {
namespace {

// A free list per host thread. Every barrier frees and allocates nodes and their lanes.
template <std::size_t bytes>
class FreeList {
 public:
  class List;
  // The calling thread's list. A library finds what a thread keeps by a call, so what frees much
  // calls this once.
  static List& mine() { return list; }
  static void* allocate() { return mine().allocate(); }
  static void deallocate(void* freed) { mine().deallocate(freed); }

  // Counts as full until the thread first frees, and again once the thread has ended, because later
  // destructors may still free.
  class List {
   public:
    void* allocate() {
      if (!first) return ::operator new(bytes);
      --count;
      return std::exchange(first, first->next);
    }
    void deallocate(void* freed) {
      if (count >= most && !open(*this)) return ::operator delete(freed);
      first = new (freed) Free{first};
      ++count;
    }

   private:
    friend FreeList;
    struct Free {
      Free* next;
    };
    Free* first = nullptr;
    std::size_t count = most;
    bool opened = false;
  };

 private:
  // Threads that synchronise one by one keep and free whole tries, of more nodes than they use at
  // once.
  static constexpr std::size_t most = (std::size_t{1} << 20) / bytes;
  struct AtEnd {
    ~AtEnd() {
      while (list.first) ::operator delete(std::exchange(list.first, list.first->next));
      list.count = most;
    }
  };
  [[gnu::noinline]] static bool open(List& mine) {
    if (mine.opened) return false;
    host::of_this_thread<AtEnd>();
    mine.opened = true;
    mine.count = 0;
    return true;
  }
  static inline constinit thread_local List list;
};

// Whether joins of nodes of this size are cached: those of two to 256 blocks. Smaller ones are as
// fast to join, and larger ones would keep too much memory.
constexpr bool keeps_joins(unsigned bits) { return bits > row_bits && bits <= row_bits + 8; }

constexpr bool same_range(Row a, Row b, unsigned bits) {
  return bits >= 64 || (a ^ b) >> bits == 0;
}

}  // namespace

struct Clock::Node {
  struct Lanes {
    LaneEpochs of;
    Epoch operator[](std::size_t lane) const { return of[lane]; }
    Epoch& operator[](std::size_t lane) { return of[lane]; }
    static void* operator new(std::size_t) { return FreeList<sizeof(Lanes)>::allocate(); }
    static void operator delete(void* freed) { FreeList<sizeof(Lanes)>::deallocate(freed); }
  };
  static void* operator new(std::size_t) { return FreeList<sizeof(Node)>::allocate(); }
  static void operator delete(void* freed) { FreeList<sizeof(Node)>::deallocate(freed); }
  std::atomic<std::uint32_t> references{1};
  std::uint8_t bits = 0;  // it covers 2^bits rows from prefix
  Epoch floor = 0;        // holds for all of these rows
  Epoch top = 0;          // the latest epoch in any of them
  Row prefix = 0;
  Clock child[2];                  // bits > 0
  std::unique_ptr<Lanes> by_lane;  // bits == 0: where they differ from the floor
  const Clock& towards(Row row) const { return child[row >> (bits - 1) & 1]; }

  // Whether a holder that gives up its reference was the last.
  bool is_left() {
    const bool alone = references.load(std::memory_order_acquire) == 1;  // then no other holder
    return alone || references.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  // Deletes a node and those below it that nothing else holds. `to`: the thread's free lists
  template <class Lists>
  static void destroy(Node* node, const Lists& to) {
    for (Clock& c : node->child)
      if (Node* const below = std::exchange(c.node_, nullptr); below && below->is_left())
        destroy(below, to);
    if (Lanes* const lanes = node->by_lane.release()) to.lanes.deallocate(lanes);
    node->~Node();
    to.nodes.deallocate(node);
  }
};

void Clock::retain() const {
  if (node_) node_->references.fetch_add(1, std::memory_order_relaxed);
}
void Clock::release() {
  if (!node_ || !node_->is_left()) return;
  const struct {
    FreeList<sizeof(Node)>::List& nodes;
    FreeList<sizeof(Node::Lanes)>::List& lanes;
  } lists{FreeList<sizeof(Node)>::mine(), FreeList<sizeof(Node::Lanes)>::mine()};
  Node::destroy(node_, lists);
}

Epoch Clock::at(Row row, unsigned lane) const {
  Epoch known = 0;
  for (const Node* n = node_; n && same_range(row, n->prefix, n->bits); n = n->towards(row).node_) {
    known = std::max(known, n->floor);
    if (n->bits > 0) continue;
    if (n->by_lane) known = std::max(known, (*n->by_lane)[lane]);
    break;
  }
  return known;
}

Epoch Clock::floor(Row first, unsigned bits) const {
  Epoch known = 0;
  for (const Node* n = node_; n && n->bits >= bits && same_range(first, n->prefix, n->bits);
       n = n->towards(first).node_) {
    known = std::max(known, n->floor);
    if (n->bits == bits) break;
  }
  return known;
}

bool Clock::covers(Row row, Mask mask, Epoch epoch) const {
  for (const Node* n = node_; n && same_range(row, n->prefix, n->bits) && n->top >= epoch;
       n = n->towards(row).node_) {
    if (n->floor >= epoch) return true;
    if (n->bits > 0) continue;
    if (!n->by_lane) return false;
    return (mask & ~lanes_from(n->by_lane->of, epoch)) == 0;
  }
  return false;
}

Mask Clock::known(Row row, Epoch epoch) const { return known(node_, row, epoch); }

Clock::Part Clock::part(Row first, unsigned bits) const {
  Epoch floor = 0;
  const Node* n = node_;
  for (; n && n->bits > bits; n = n->towards(first).node_) {
    if (!same_range(first, n->prefix, n->bits)) return {node_, nullptr, floor};
    floor = std::max(floor, n->floor);
  }
  return {node_, n && same_range(first, n->prefix, bits) ? n : nullptr, floor};
}

Mask Clock::known(const Node* from, Row row, Epoch epoch) {
  for (const Node* n = from; n && same_range(row, n->prefix, n->bits) && n->top >= epoch;
       n = n->towards(row).node_) {
    if (n->floor >= epoch) return ~Mask{0};
    if (n->bits > 0) continue;
    return n->by_lane ? lanes_from(n->by_lane->of, epoch) : 0;
  }
  return 0;
}

Clock Clock::make(Row prefix, unsigned bits, Epoch floor, Clock low, Clock high) {
  Clock child[2] = {std::move(low), std::move(high)};
  const auto whole = [&](const Clock& c) { return c.node_ && c.node_->bits == bits - 1; };
  if (whole(child[0]) && whole(child[1]))
    floor = std::max(floor, std::min(child[0].node_->floor, child[1].node_->floor));
  Epoch top = floor;
  for (Clock& c : child) {
    if (c.node_ && c.node_->top <= floor) c = Clock();
    if (c.node_) top = std::max(top, c.node_->top);
  }
  if (floor == 0 && (!child[0].node_ || !child[1].node_))
    return std::move(child[child[0].node_ ? 0 : 1]);
  Node* n = new Node;
  n->bits = static_cast<std::uint8_t>(bits);
  n->floor = floor;
  n->top = top;
  n->prefix = prefix;
  n->child[0] = std::move(child[0]);
  n->child[1] = std::move(child[1]);
  return Clock(n);
}

Clock::Node* Clock::given(Clock clock) { return std::exchange(clock.node_, nullptr); }
Clock Clock::owned(Node* of_joined, const Node* a, const Node* b) {
  Clock clock(of_joined);
  if (of_joined == a || of_joined == b) clock.retain();
  return clock;
}

// Most joins change nothing, so nothing is retained on the way.
Clock::Node* Clock::joined(Node* a, Node* b) {
  if (!b || a == b) return a;
  if (!a) return b;
  if (a->bits < b->bits) std::swap(a, b);
  const Node &x = *a, &y = *b;
  const auto kept = [](Node* node) { return owned(node, node, nullptr); };
  if (!same_range(x.prefix, y.prefix, x.bits)) {
    const unsigned bits = 64 - static_cast<unsigned>(std::countl_zero(x.prefix ^ y.prefix));
    const Row prefix = bits >= 64 ? 0 : x.prefix >> bits << bits;
    if (x.prefix > y.prefix) std::swap(a, b);
    return given(make(prefix, bits, 0, kept(a), kept(b)));
  }
  if (y.top <= x.floor) return a;
  if (x.bits != y.bits) {
    const unsigned side = y.prefix >> (x.bits - 1) & 1;
    Node* const before = x.child[side].node_;
    Node* const node = joined(before, b);
    if (node == before) return a;
    Clock child = owned(node, before, b);
    return given(side ? make(x.prefix, x.bits, x.floor, x.child[0], std::move(child))
                      : make(x.prefix, x.bits, x.floor, std::move(child), x.child[1]));
  }
  if (x.top <= y.floor) return b;
  if (x.bits > 0) return keeps_joins(x.bits) ? joined_again(a, b) : joined_children(a, b);
  // The floor of a row is the least epoch of its lanes.
  Node::Lanes flat;
  if (!x.by_lane || !y.by_lane) flat.of.fill(x.by_lane ? y.floor : x.floor);
  const Node::Lanes &in_x = x.by_lane ? *x.by_lane : flat, &in_y = y.by_lane ? *y.by_lane : flat;
  Node::Lanes all;
  const LaneJoin join = join_lanes(in_x.of, in_y.of, all.of);
  if (join.is_a) return a;
  if (join.is_b) return b;
  Node* n = new Node;
  n->floor = join.least;
  n->top = std::max(x.top, y.top);
  n->prefix = x.prefix;
  if (n->floor != n->top) n->by_lane.reset(new Node::Lanes(all));
  return n;
}

// Joins two nodes of the same range, neither of which is entirely under the other's floor.
Clock::Node* Clock::joined_children(Node* a, Node* b) {
  const Node &x = *a, &y = *b;
  const Epoch floor = std::max(x.floor, y.floor);
  const auto above = [floor](const Clock& c) {
    return c.node_ && c.node_->top > floor ? c.node_ : nullptr;
  };
  Node* const from[2][2] = {{above(x.child[0]), above(y.child[0])},
                            {above(x.child[1]), above(y.child[1])}};
  Node* const part[2] = {joined(from[0][0], from[0][1]), joined(from[1][0], from[1][1])};
  for (Node* old : {a, b})
    if (old->floor == floor && part[0] == old->child[0].node_ && part[1] == old->child[1].node_)
      return old;
  return given(make(x.prefix, x.bits, floor, owned(part[0], from[0][0], from[0][1]),
                    owned(part[1], from[1][0], from[1][1])));
}

// As joined_children(), with a cache of recent joins per host thread. Lanes that synchronise on one
// location one after the other know almost the same, so the same parts of clocks are joined again
// and again.
Clock::Node* Clock::joined_again(Node* a, Node* b) {
  struct Join {
    Clock a, b, both;
  };
  constexpr unsigned bits_of_count = 12;
  struct Joins {
    std::array<Join, 1u << bits_of_count> of;
    // Its destructor frees nodes when the thread's free lists have ended.
    Joins() {
      FreeList<sizeof(Node)>::deallocate(FreeList<sizeof(Node)>::allocate());
      FreeList<sizeof(Node::Lanes)>::deallocate(FreeList<sizeof(Node::Lanes)>::allocate());
    }
  };
  const auto number = [](const Node* n) { return reinterpret_cast<std::uintptr_t>(n) / 16; };
  const std::uint64_t mixed = (number(a) * 0x9e3779b97f4a7c15 ^ number(b)) * 0xd6e8feb86659fd93;
  Join& join = host::of_this_thread<Joins>().of[mixed >> (64 - bits_of_count)];
  if (join.a.node_ == a && join.b.node_ == b) {
    Node* const both = join.both.node_;
    return both == a || both == b ? both : given(join.both);
  }
  Node* const both = joined_children(a, b);
  const auto kept = [](Node* node) { return owned(node, node, nullptr); };
  join = {kept(a), kept(b), kept(both)};
  return both;
}

bool Clock::includes(const Node* a, const Node* b, Epoch floor) {
  for (;; a = a->towards(b->prefix).node_) {
    if (!b || a == b || b->top <= floor) return true;
    if (!a || a->bits < b->bits || !same_range(b->prefix, a->prefix, a->bits)) break;
    floor = std::max(floor, a->floor);
    if (b->top <= floor) return true;
    if (a->bits == b->bits) break;
  }
  if (b->floor > floor || !a || !same_range(a->prefix, b->prefix, b->bits)) return false;
  if (b->bits > 0) {
    const bool equal = a->bits == b->bits;
    return includes(equal ? a->child[0].node_ : a, b->child[0].node_, floor) &&
           includes(equal ? a->child[1].node_ : a, b->child[1].node_, floor);
  }
  if (a->bits > 0 || !a->by_lane || !b->by_lane) return false;
  for (unsigned l = 0; l < lanes; ++l)
    if (std::max((*a->by_lane)[l], floor) < (*b->by_lane)[l]) return false;
  return true;
}

void Clock::join(const Clock& other) {
  Node* const node = joined(node_, other.node_);
  if (node != node_) *this = owned(node, other.node_, nullptr);
}

void Clock::raise(Row row, Mask mask, Epoch epoch) {
  if (epoch == 0 || mask == 0 || covers(row, mask, epoch)) return;
  if (mask == ~Mask{0}) return raise_range(row, 0, epoch);
  Node* n = new Node;
  n->top = epoch;
  n->prefix = row;
  n->by_lane.reset(new Node::Lanes);
  n->by_lane->of.fill(0);
  raise_lanes(n->by_lane->of, mask, epoch);
  join(Clock(n));
}

bool Clock::raise_in_place(Row first, unsigned bits, Epoch epoch) {
  std::array<Node*, 64> above;
  std::size_t count = 0;
  Node* n = node_;
  for (;; n = n->towards(first).node_) {
    if (!n || n->bits < bits || !same_range(first, n->prefix, n->bits) || n->floor >= epoch ||
        n->references.load(std::memory_order_acquire) != 1)
      return false;
    if (n->bits == bits) break;
    if (count == above.size()) return false;
    above[count++] = n;
  }
  const auto raise = [](Node& of, Epoch floor) {
    of.floor = floor;
    of.top = std::max(of.top, floor);
    for (Clock& c : of.child)
      if (c.node_ && c.node_->top <= floor) c = Clock();
  };
  raise(*n, epoch);
  if (n->top == epoch)
    n->by_lane.reset();
  else if (n->by_lane)
    raise_lanes(n->by_lane->of, ~Mask{0}, epoch);
  while (count > 0) {
    Node& each = *above[--count];
    each.top = std::max(each.top, n->top);
    const auto floor_of = [&](const Clock& c) {
      return c.node_ && c.node_->bits == each.bits - 1u ? c.node_->floor : 0;
    };
    const Epoch both = std::min(floor_of(each.child[0]), floor_of(each.child[1]));
    if (both > each.floor) raise(each, both);
  }
  return true;
}

void Clock::raise_range(Row first, unsigned bits, Epoch epoch) {
  if (epoch == 0 || raise_in_place(first, bits, epoch)) return;
  Node* n = new Node;
  n->bits = static_cast<std::uint8_t>(bits);
  n->floor = n->top = epoch;
  n->prefix = first;
  join(Clock(n));
}

// Of one row. `node`: that row's, or null.
Clock::Node* Clock::raised_row(Node* node, const Raises::Raise* first, const Raises::Raise* last) {
  const Epoch floor = node ? node->floor : 0;
  const Node::Lanes* const before = node ? node->by_lane.get() : nullptr;
  Epoch top = 0;
  bool has_all = node != nullptr;
  for (const Raises::Raise* raise = first; raise != last; ++raise) {
    top = std::max(top, raise->epoch);
    has_all = has_all && (raise->epoch <= floor ||
                          (before && raise->epoch <= node->top &&
                           (raise->mask & ~lanes_from(before->of, raise->epoch)) == 0));
  }
  if (has_all) return node;
  top = std::max(top, node ? node->top : 0);
  Node* const n = new Node;
  n->prefix = first->row;
  n->top = top;
  if (std::any_of(first, last,
                  [&](const auto& raise) { return ~raise.mask == 0 && raise.epoch == top; })) {
    n->floor = top;
    return n;
  }
  std::unique_ptr<Node::Lanes> all(new Node::Lanes);
  if (before)
    all->of = before->of;
  else
    all->of.fill(floor);
  for (const Raises::Raise* raise = first; raise != last; ++raise)
    raise_lanes(all->of, raise->mask, raise->epoch);
  n->floor = ~lanes_from(all->of, floor + 1) ? floor : *std::ranges::min_element(all->of);
  if (n->floor != top) n->by_lane = std::move(all);
  return n;
}

// Builds each new node once. A join with a clock of the raises would build most of them twice.
Clock::Node* Clock::raised(Node* node, const Raises::Raise* first, const Raises::Raise* last,
                           Epoch floor) {
  if (std::all_of(first, last, [&](const auto& raise) { return raise.epoch <= floor; }))
    return node;
  const Row prefix = node ? node->prefix : first->row;
  const Row differ = (prefix ^ first->row) | (prefix ^ last[-1].row);
  const auto needed = static_cast<unsigned>(std::bit_width(differ));
  const unsigned bits = node ? std::max<unsigned>(needed, node->bits) : needed;
  if (bits == 0) return raised_row(node, first, last);
  const Raises::Raise* const high = std::partition_point(
      first, last, [&](const Raises::Raise& raise) { return (raise.row >> (bits - 1) & 1) == 0; });
  const bool inside = node && node->bits == bits;
  Node* before[2] = {};
  if (inside)
    for (unsigned side : {0u, 1u}) before[side] = node->child[side].node_;
  else
    before[prefix >> (bits - 1) & 1] = node;
  if (inside) floor = std::max(floor, node->floor);
  Node* const after[2] = {raised(before[0], first, high, floor),
                          raised(before[1], high, last, floor)};
  if (after[0] == before[0] && after[1] == before[1]) return node;
  return given(make(bits >= 64 ? 0 : prefix >> bits << bits, bits, inside ? node->floor : 0,
                    owned(after[0], before[0], nullptr), owned(after[1], before[1], nullptr)));
}

void Clock::raise(Raises& raises) {
  auto& all = raises.all_;
  if (all.empty()) return;
  std::ranges::sort(all, {}, &Raises::Raise::row);
  Node* const node = raised(node_, all.data(), all.data() + all.size(), 0);
  if (node != node_) *this = Clock(node);
}

std::size_t Clock::nodes() const {
  return node_ ? 1 + node_->child[0].nodes() + node_->child[1].nodes() : 0;
}

}  // namespace inflight::order
