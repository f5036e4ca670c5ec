// What host code calls where it ends, or pauses.
#pragma once
#include <cstdint>

#include "gpu/machine/code/op.hpp"

namespace inflight::machine::compile {

struct Places;

// Which homes are written back to the frame.
enum class Spread : std::uint32_t {
  before,  // those that are live before the op
  behind,  // those that are live before or behind it, except what its instruction writes
};
void spread(char* frame, const char* homes, const Places* places, std::uint32_t op, Spread which);

// Warp::pause, Warp::diverge.
const Op* pause(Warp* warp, const Op* target);
const Op* diverge(Warp* warp, const Op* taken, std::uint32_t mask, const Op* other);

}  // namespace inflight::machine::compile
