// The length and order of the turns of a block's warps.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/async/timing.hpp"
#include "gpu/machine/config/options.hpp"

namespace inflight::machine {

// The turns of one block's warps.
class TurnOrder {
 public:
  // Phases that a warp begins in step with the block's others after a barrier releases it.
  static constexpr std::uint32_t chip_phases = 16;

  void start(const Turns& turns, std::uint64_t block, std::size_t warps);
  // From now on the turns are as at random, by a seed of the block: a pattern of regular turns may
  // repeat for ever what threads do to each other, which no chip does. Or again as asked for.
  void vary(std::uint64_t block, std::size_t warps);
  void vary_no_more();
  bool varies() const { return varies_; }
  // Begins a round, in a new order if the order is random.
  void next_round() {
    if (is_random()) shuffle();
  }
  std::size_t warp(std::size_t i) const { return order_.empty() ? i : order_[i]; }
  // Do turns end after a number of instructions, rather than with the slice?
  bool counted() const { return varies_ || turns_.kind != Turns::Kind::chip; }
  std::uint32_t instructions();
  // Phases that a warp may have to begin in step.
  std::uint32_t phases_in_step() const { return phases_; }

 private:
  bool is_random() const { return varies_ || turns_.kind == Turns::Kind::random; }
  void begin_random(std::uint64_t block, std::size_t warps);
  void shuffle();
  Turns turns_;
  bool varies_ = false;
  std::uint32_t phases_ = 0;
  async::Random random_{0};
  std::vector<std::uint16_t> order_;
};

// The index of the n-th cluster to start, of `total`, if `resident` of them have room at once.
std::uint64_t start_order(const Turns& turns, std::uint64_t n, std::uint64_t total,
                          std::uint64_t resident);

}  // namespace inflight::machine
