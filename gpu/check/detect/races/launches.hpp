// Launches by the numbers that their order gives them: who a row of actors is.
#pragma once
#include <deque>
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
  bool host = false;       // a copy of the host's or in a stream, or:
  bool program = false;    // the program's own code on the host
  bool dependent = false;  // it may begin before the kernel in front has ended
  bool nested = false;     // a kernel has launched it

  std::uint32_t cluster_blocks() const { return cluster.x * cluster.y * cluster.z; }
  // Blocks in an order in which those of a cluster follow each other.
  std::uint64_t number_of(std::uint64_t linear) const;
  std::uint64_t linear_of(std::uint64_t number) const;
};

Launch facts_of(const Kernel& kernel);

class Launches {
 public:
  void set(std::uint32_t number, const Launch& launch);
  // Of a row of threads or of copies that a thread waits for; none: the host, or copies that
  // complete on an mbarrier.
  std::optional<Threads> threads(order::Row row, order::Mask lanes) const;
  bool is_host(order::Row row) const;
  bool is_program(order::Row row) const;
  // Are both in one stream? And may one of two kernels begin early?
  bool same_stream(order::Row a, order::Row b) const;
  bool dependent(order::Row a, order::Row b) const;
  // Has a kernel launched one of them?
  bool nested(order::Row a, order::Row b) const;

 private:
  Launch of(order::Row row) const;
  mutable std::mutex mutex_;
  std::deque<Launch> launches_;  // by number
};

}  // namespace inflight::check::races
