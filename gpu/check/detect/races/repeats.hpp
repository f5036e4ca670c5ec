// Accesses that a warp repeats with nothing in between that could change the result of their check:
// loops that access the same bytes, with lanes far apart. Such repeats are not checked again.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/check/events.hpp"
#include "gpu/check/finding/places.hpp"
#include "gpu/check/order/actor.hpp"

namespace inflight::check::races {

class Repeats {
 public:
  // Whether the warp has made this access to global memory since its block last published or
  // copied. Then whatever conflicts with it conflicts with the earlier one too. `changes`: the
  // number of allocations and releases so far.
  bool again(const Access& access, Mask mask, bool write, order::Epoch epoch,
             std::uint64_t changes);
  // The block has issued a copy, which may conflict with later accesses of its threads.
  void forget() { ++copies_; }

 private:
  // Minimum bytes from the first lane to the last. Below, checking again is as fast.
  static constexpr std::uint64_t wide = 512;
  static constexpr std::size_t slots = 1024;
  struct Made {
    std::uint64_t first = 0, step = 0, changes = 0;  // lowest lane's address; bytes between lanes
    std::uint32_t instruction = 0, warp = 0, bytes = 0;
    Mask lanes = 0, silent = 0;
    order::Epoch epoch = 0;
    bool write = false;
    bool operator==(const Made&) const = default;
  };
  std::vector<Made> made_;
  std::uint64_t copies_ = 0;
};

}  // namespace inflight::check::races
