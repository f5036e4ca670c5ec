// Writes homes to all lanes of the frame, and ends turns.
#include "gpu/machine/compile/exits.hpp"

#include <cstring>

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

const Op* pause(Warp* warp, const Op* target) { return warp->pause(target); }

const Op* diverge(Warp* warp, const Op* taken, std::uint32_t mask, const Op* other) {
  return warp->diverge(taken, mask, other);
}

}  // namespace inflight::machine::compile
