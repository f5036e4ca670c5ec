// Writes homes to all lanes of the frame, and ends turns.
#include "gpu/machine/compile/exits.hpp"

#include <cstdint>
#include <cstring>

#include "gpu/machine/compile/places.hpp"
#include "gpu/machine/run/control.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine::compile {
namespace {

template <class T>
void write_lanes(char* to, const char* home, const Shape& shape) {
  T first, second;
  std::memcpy(&first, home, sizeof first);
  std::memcpy(&second, home + 8, sizeof second);
  const auto stride = static_cast<T>(shape.stride);
  if (shape.reach == Shape::Reach::warp) second = static_cast<T>(first + stride * 16);
  T all[lanes];
  for (int l = 0; l < 16; ++l) {
    all[l] = static_cast<T>(first + stride * static_cast<T>(l));
    all[16 + l] = static_cast<T>(second + stride * static_cast<T>(l));
  }
  std::memcpy(to, all, sizeof all);
}

}  // namespace

void spread(char* frame, const char* homes, const Spread* list) {
  for (const HomeToSpread& each : *list) {
    char* const to = frame + each.slot;
    const char* const home = homes + each.home;
    if (each.wide)
      write_lanes<std::uint64_t>(to, home, each.shape);
    else
      write_lanes<std::uint32_t>(to, home, each.shape);
  }
}

void rejoin(Warp* warp, const Region* region, const std::uint32_t* taken, const Op* at) {
  Warp& w = *warp;
  const std::int32_t budget = w.budget;
  w.budget = INT32_MAX;
  w.mask = w.alive, w.whole = true;
  const Op* const first = w.frame->code->ops.data();
  for (const Op* op = first + region->head; op != at;) {
    const Handler run = w.frame->code->handler_of(op);
    if (run == &run_jump) {
      op = w.jump(op->target, static_cast<std::int32_t>(op->imm));
    } else if (run == &run_branch) {
      const std::uint32_t lanes = taken[region->branch(static_cast<std::uint32_t>(op - first))];
      op = lanes == 0        ? op + 1
           : lanes == w.mask ? w.jump(op->target, static_cast<std::int32_t>(op->imm))
                             : w.diverge(op->target, lanes, op + 1);
    } else {
      ++op;
    }
  }
  w.budget = budget;
}

const Op* pause(Warp* warp, const Op* target) { return warp->pause(target); }

const Op* diverge(Warp* warp, const Op* taken, std::uint32_t mask, const Op* other) {
  return warp->diverge(taken, mask, other);
}

}  // namespace inflight::machine::compile
