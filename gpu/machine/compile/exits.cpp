// Writes homes to all lanes of the frame, and ends turns.
#include "gpu/machine/compile/exits.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/machine/compile/places.hpp"
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

void spread(char* frame, const char* homes, const Places* places, std::uint32_t op, Spread which) {
  const Code& code = places->code;
  const auto write = [&](std::uint32_t reg) {
    if (!places->in_home(reg)) return;
    char* const to = frame + (code.slots[reg] & ~3u);
    const char* const home = homes + 16 * places->home[reg];
    if (places->width(reg) == 8)
      write_lanes<std::uint64_t>(to, home, places->shapes[reg]);
    else
      write_lanes<std::uint32_t>(to, home, places->shapes[reg]);
  };
  if (which == Spread::before) {
    places->dirty.for_each(op, [&](std::uint32_t reg) {
      if (places->live.has(op, reg)) write(reg);
    });
    return;
  }
  const Instruction& in = places->instruction(op);
  const bool control = places->ops[op].what == Place::Do::branch;
  places->dirty.for_each(op, [&](std::uint32_t reg) {
    if (!control &&
        std::ranges::any_of(in.writes, [&](const RegisterUse& use) { return use.reg == reg; }))
      return;
    if (places->is_live_near(op, reg)) write(reg);
  });
}

const Op* pause(Warp* warp, const Op* target) { return warp->pause(target); }

const Op* diverge(Warp* warp, const Op* taken, std::uint32_t mask, const Op* other) {
  return warp->diverge(taken, mask, other);
}

}  // namespace inflight::machine::compile
