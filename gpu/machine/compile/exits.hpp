// What host code calls where it ends, or pauses.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/machine/code/op.hpp"
#include "gpu/machine/shapes/shape.hpp"

namespace inflight::machine::compile {

// A home that is written back to the frame.
struct HomeToSpread {
  std::uint32_t slot = 0, home = 0;  // offsets
  Shape shape;
  bool wide = false;  // 64 bits a lane
};
// Those of one way out.
using Spread = std::vector<HomeToSpread>;
void spread(char* frame, const char* homes, const Spread* list);

struct Region;
// The warp is under masks in a region, before the op `at`. Brings it into the state that its splits
// have there: repeats the region's branches, of which `taken` has the lanes that took them.
void rejoin(Warp* warp, const Region* region, const std::uint32_t* taken, const Op* at);

// Warp::pause, Warp::diverge.
const Op* pause(Warp* warp, const Op* target);
const Op* diverge(Warp* warp, const Op* taken, std::uint32_t mask, const Op* other);

}  // namespace inflight::machine::compile
