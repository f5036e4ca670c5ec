// The events of a launch: what warps, blocks and copies report to its listener.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/async/copy_groups.hpp"
#include "gpu/check/listener.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/counts.hpp"

namespace inflight::machine {

// The events of one launch. Made and ended with it.
class Observation {
 public:
  Observation(Grid& grid, check::Listener& listener);
  ~Observation();
  Observation(const Observation&) = delete;

  check::Listener& listener() const { return listener_; }
  bool wants(check::Topic topic) const { return check::has(topics_, topic); }
  // For a Block that is made, as long as this lives; null: nobody wants sums.
  Counts* new_counts() const;
  void block_begin(const Block& block) const;
  void block_end(const Block& block) const;
  void diverged(const Warp& w, std::uint32_t taken) const;
  void reconverged(const Warp& w) const;
  void exited(const Warp& w, std::uint32_t mask) const;
  void barrier(const Block& block, std::uint32_t id, check::Barrier::Step step, const Warp* w,
               std::uint32_t expected, std::uint32_t arrived) const;
  // Passes on what a team's copies do.
  std::unique_ptr<async::CopyObserver> watch(const Warp& w) const;
  check::Who who(const Warp& w, std::uint32_t mask,
                 std::uint32_t instruction = check::nothing) const;

 private:
  Grid& grid_;
  check::Listener& listener_;
  const check::Topic topics_;
  check::Kernel kernel_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Counts>> counts_;
};

}  // namespace inflight::machine
