// Assigns slots by linear scan over lifetimes.
#include "gpu/machine/code/slots.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace inflight::machine {

unsigned slot_bytes(ptx::Type type) {
  if (type == ptx::Type::pred) return 4;
  return std::max(2u, ptx::size_of(type)) * 32;
}

Slots allocate(const Function& function) {
  const std::vector<Lifetime>& lives = function.lifetimes;
  const auto& registers = function.text->registers;

  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < lives.size(); ++r)
    if (lives[r].lives()) order.push_back(r);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return lives[a].begin < lives[b].begin; });

  // One pool of slots a width: predicates, 2, 4, 8 and 16 bytes a lane.
  struct Pool {
    std::vector<std::uint32_t> free;
    std::uint32_t count = 0;
  };
  std::array<Pool, 5> pools;
  auto pool_of = [&](std::uint32_t r) {
    const unsigned bytes = slot_bytes(registers[r].type);
    return bytes == 4 ? 0 : std::bit_width(bytes / 64);
  };
  constexpr unsigned bytes[] = {4, 64, 128, 256, 512};

  Slots slots;
  slots.ref.assign(registers.size(), no_ref);
  std::vector<std::uint32_t> slot(registers.size());
  auto later = [&](std::uint32_t a, std::uint32_t b) { return lives[a].end > lives[b].end; };
  std::vector<std::uint32_t> active;  // a heap: the first to end on top
  // A wgmma in flight may use a held register after its last use in the text: it keeps its slot.
  const auto held = [&](std::uint32_t r) { return !function.held.empty() && function.held[r]; };
  for (std::uint32_t r : order) {
    while (!active.empty() && lives[active.front()].end < lives[r].begin) {
      std::pop_heap(active.begin(), active.end(), later);
      const std::uint32_t dead = active.back();
      active.pop_back();
      if (!held(dead)) pools[pool_of(dead)].free.push_back(slot[dead]);
    }
    Pool& pool = pools[pool_of(r)];
    if (pool.free.empty() || held(r)) {
      slot[r] = pool.count++;
    } else {
      slot[r] = pool.free.back();
      pool.free.pop_back();
    }
    active.push_back(r);
    std::push_heap(active.begin(), active.end(), later);
  }
  std::array<std::uint32_t, 5> start{};
  for (int p = 0; p < 5; ++p) {
    start[p] = slots.bytes;
    slots.bytes += (pools[p].count * bytes[p] + 63) / 64 * 64;
  }
  for (std::uint32_t r : order)
    slots.ref[r] = make_ref(Base::frame, start[pool_of(r)] + slot[r] * bytes[pool_of(r)]);
  return slots;
}

}  // namespace inflight::machine
