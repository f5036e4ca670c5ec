// How long the warps of a block run before others do, and in what order.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/async/timing.hpp"
#include "gpu/machine/config/options.hpp"

namespace inflight::machine {

// The turns of one block's warps.
class TurnOrder {
 public:
  // Phases that a warp which a barrier has released begins in step with the block's others.
  static constexpr std::uint32_t chip_phases = 16;

  void start(const Turns& turns, std::uint64_t block, std::size_t warps);
  // Begins a round: what round()[i] says is the i-th warp's index, or i where it is empty.
  void next_round() {
    if (turns_.kind == Turns::Kind::random) shuffle();
  }
  std::size_t warp(std::size_t i) const { return order_.empty() ? i : order_[i]; }
  // Are turns as long as a slice, or so many instructions?
  bool counted() const { return turns_.kind != Turns::Kind::chip; }
  std::uint32_t instructions();
  // How many phases a warp may have to begin in step.
  std::uint32_t phases_in_step() const { return phases_; }

 private:
  void shuffle();
  Turns turns_;
  std::uint32_t phases_ = 0;
  async::Random random_{0};
  std::vector<std::uint16_t> order_;
};

// The n-th of `total` blocks or clusters to be started, of which `resident` have room at once.
std::uint64_t start_order(const Turns& turns, std::uint64_t n, std::uint64_t total,
                          std::uint64_t resident);

}  // namespace inflight::machine
