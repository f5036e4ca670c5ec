// Launches by the number that order::Streams gives them, to find the threads of a row of actors.
#pragma once
#include <map>
#include <mutex>
#include <optional>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/order/actor.hpp"

namespace inflight::check::races {

struct Launch {
  static constexpr std::uint64_t no_stream = ~0ull;
  std::uint64_t launch = 0, stream = 0;
  int device = 0;
  Extents grid, block, cluster;
  bool host = false;       // not a kernel: a copy or fill, or the program's code on the host
  bool program = false;    // the program's own code on the host; `host` is set too
  bool dependent = false;  // it may begin before the preceding kernel has ended
  bool nested = false;     // launched by a kernel

  std::uint32_t cluster_blocks() const { return cluster.x * cluster.y * cluster.z; }
  // Converts between a block's linear index and its number in an order that keeps the blocks of a
  // cluster together.
  std::uint64_t number_of(std::uint64_t linear) const;
  std::uint64_t linear_of(std::uint64_t number) const;
};

Launch facts_of(const Kernel& kernel);

// Thread-safe. Launches of one kind that follow each other are kept as one run. Of the oldest runs
// nothing is known any more: their threads have no names, as the host's.
class Launches {
 public:
  static constexpr std::size_t most_runs = 1 << 11;
  void set(std::uint32_t number, const Launch& launch);
  // The threads of a row, or those that wait for the row's copies. None for the host and for copies
  // that complete on an mbarrier.
  std::optional<Threads> threads(order::Row row, order::Mask lanes) const;
  bool is_host(order::Row row) const;
  bool is_program(order::Row row) const;
  // Whether both are in one stream, and whether one of them may begin early as well.
  bool same_stream(order::Row a, order::Row b) const;
  bool dependent(order::Row a, order::Row b) const;
  // Whether a kernel has launched one of them.
  bool nested(order::Row a, order::Row b) const;

 private:
  struct Run {
    std::uint32_t last = 0;  // number
    Launch first;            // the launches of the others count up from its launch
  };
  Launch of(order::Row row) const;
  void forget(std::uint32_t number);
  mutable std::mutex mutex_;
  std::map<std::uint32_t, Run> runs_;  // by the first one's number
};

}  // namespace inflight::check::races
