// A random small history of up to four threads, run both on the clocks with the shadow and by brute
// force.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gpu/check/order/block.hpp"
#include "gpu/check/shadow/shadow.hpp"
#include "tests/unit/check/brute_force.hpp"

namespace inflight::order {

class History {
 public:
  struct Outcome {
    std::string failure;  // empty: both agree
    int accesses = 0, races = 0, missed = 0;
    std::uint64_t forgotten = 0;
  };
  History(std::uint64_t seed, shadow::Limits limits);
  Outcome play(int steps);

 private:
  using Node = int;
  struct Thread {
    std::uint32_t block, warp;
    unsigned lane;
    bool waiting = false;                      // at the barrier
    int cluster = 0;                           // 1: arrived at the cluster's barrier; 2: may wait
    std::vector<std::vector<Node>> groups[2];  // committed: reads and writes, by kind
    std::vector<Node> open[2];
    std::vector<std::vector<Node>> read_groups;  // of bulk groups: reads alone
    std::vector<Node> open_reads;
  };
  struct Write {
    Place place;
    Scope scope;
    brute_force::Heads heads;
    int chain;  // the write whose release sequence it continues, or -1
    std::uint64_t number;
    Node node;
  };
  struct Variable {
    Location location;
    std::vector<Write> writes;
  };
  struct InFlight {
    Knowledge knows;                      // of a bulk copy's issue
    std::optional<LaterArrival> arrival;  // of cp.async.mbarrier.arrive, by these lanes
    Mask lanes = 0;
    std::vector<Node> nodes;  // of issue and copies
    Scope scope;
    Place place;
    std::optional<shadow::Performer> by;  // of a bulk copy
    unsigned begin = 0, end = 0, source = 0;
  };
  struct Bar {
    Mbarrier clock;
    Block* owner = nullptr;
    brute_force::Heads arrived, completed;
    std::vector<InFlight> pending;
  };
  struct Met {
    BarrierState clock;
    std::vector<Node> arrived, completed;
    std::vector<int> waiting;
    brute_force::Halves halves, completed_halves;
  };

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  Scope scope() { return static_cast<Scope>(below(scope_count)); }
  Order order() { return static_cast<Order>(below(5)); }
  Block& block(int t) { return *blocks_[threads_[static_cast<std::size_t>(t)].block]; }
  bool busy(int t) const { return threads_[static_cast<std::size_t>(t)].waiting; }

  void weak_access(int t);
  void warp_access(int t);
  void strong_access(int t, std::uint32_t kind, Order order);
  void fence(int t);
  void message(int t);
  void copy_and_wait(int t);
  void warp_sync(int t);
  void barrier(int t);
  void complete_barrier(std::uint32_t block);
  void cluster_barrier(int t);
  void mbarrier(int t);
  void complete(Bar& bar);
  void arrive_later(Bar& bar, std::size_t index);
  void group_copy(int t);
  void bulk_copy(int t);
  void bulk_load(int t);
  void wait(int t, std::uint32_t kind);
  brute_force::Heads seen(const Variable& v, int t, Scope scope, std::size_t write) const;

  brute_force::Touch touch(int t, Node node, int space, unsigned begin, unsigned bytes, bool write);
  std::uint32_t remember(const brute_force::Touch& touch, unsigned lane);
  bool is_replaced(const brute_force::Touch& x, const brute_force::Touch& y) const;
  void compare(const std::vector<brute_force::Touch>& now);

  std::mt19937_64 random_;
  std::vector<std::uint32_t> kinds_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Thread> threads_;
  std::unique_ptr<brute_force::Graph> graph_;
  shadow::Shadow memory_[space_count];
  struct Kept {
    brute_force::Touch touch;
    std::uint32_t place;
    unsigned lane;
  };
  std::vector<Kept> touches_;
  std::uint32_t next_place_ = 1;
  std::vector<shadow::Conflict> conflicts_;
  bool dirty_[space_count][64] = {};  // a race was there already
  Variable variables_[2];
  Bar bars_[2];
  std::vector<std::unique_ptr<Met>> barriers_;
  Met cluster_;
  Outcome outcome_;
};

}  // namespace inflight::order
