// Accesses that a warp has made before, with nothing between that could change what is said of
// them: loops that read and write the same bytes, whose lanes lie far apart.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/check/events.hpp"
#include "gpu/check/finding/places.hpp"
#include "gpu/check/order/actor.hpp"

namespace inflight::check::races {

class Repeats {
 public:
  // Has the warp made this access to global memory since its block last published something, or
  // copied? Then whoever conflicts with it conflicts with the one before. `changes`: of memory, as
  // it comes and goes.
  bool again(const Access& access, Mask mask, bool write, order::Epoch epoch,
             std::uint64_t changes);
  // A copy of the block's is issued, which its threads' later accesses do not come after.
  void forget() { ++copies_; }

 private:
  // Below so many bytes from the first lane to the last, looking is as quick as comparing.
  static constexpr std::uint64_t wide = 512;
  static constexpr std::size_t slots = 1024;
  struct Made {
    std::uint64_t first = 0, step = 0, changes = 0;  // of the lowest lane, and from lane to lane
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
