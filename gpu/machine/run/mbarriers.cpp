// Waking the threads that wait for an mbarrier, and resolving its address.
#include "gpu/machine/run/mbarriers.hpp"

#include <algorithm>
#include <bit>

#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/in_flight.hpp"

namespace inflight::machine {

// A thread whose phase is complete gets the result now, as on a GPU, where all waiters see a
// completion at once. By the time that a later thread runs, an earlier one may have started the
// next phase or initialised the mbarrier again.
void wake_mbarrier(Block& block, std::uint64_t offset) {
  for (auto& w : block.warps) {
    for (const Split& s : w->parked) {
      if (s.wait != Wait::mbarrier || s.detail != offset) continue;
      const auto* word = reinterpret_cast<const async::mbarrier::Word*>(block.shared + s.detail);
      if (async::mbarrier::decode(*word).parity != s.parity) w->granted |= s.mask;
    }
    w->wake(Wait::mbarrier, offset);
  }
}

void settle_mbarrier(Block& block, const async::mbarrier::Word* word) {
  if (InFlight* const of = block.cluster->in_flight.get()) of->ledger.flush_for(block.rank, word);
}

namespace {

template <class T>
bool are_equal_plain(std::uint32_t mask, const T* by_lane) {
  const T first = by_lane[std::countr_zero(mask)];
  T differ = 0;
  each_lane(mask, [&](int l) { differ |= by_lane[l] ^ first; });
  return differ == 0;
}

#ifdef __x86_64__
template <class T>
__attribute__((target("avx2"))) bool are_equal_avx2(std::uint32_t mask, const T* by_lane) {
  const T first = by_lane[std::countr_zero(mask)];
  T differ = 0;
  for (unsigned l = 0; l < lanes; ++l) differ |= (by_lane[l] ^ first) & (T{0} - (mask >> l & 1));
  return differ == 0;
}
template <class T>
const auto are_equal_here = __builtin_cpu_supports("avx2") ? are_equal_avx2<T> : are_equal_plain<T>;
#else
template <class T>
constexpr auto are_equal_here = are_equal_plain<T>;
#endif

// Finds the mbarrier that all lanes name, if it is in the block's own shared memory, as it mostly
// is. Otherwise returns false.
bool find_own(const Warp& w, std::uint64_t address, LaneMbarriers& out) {
  const Block& b = *w.block;
  const std::uint64_t offset = address ^ b.window;
  if (address % async::mbarrier::size != 0 || offset < reserved_shared || offset >= b.shared_end ||
      b.shared_end - offset < async::mbarrier::size)
    return false;
  std::fill_n(out.blocks, lanes, w.block);
  std::fill_n(out.offsets, lanes, static_cast<std::uint32_t>(offset));
  return true;
}

}  // namespace

bool are_equal(std::uint32_t mask, const std::uint64_t* by_lane) {
  return are_equal_here<std::uint64_t>(mask, by_lane);
}
bool are_equal(std::uint32_t mask, const std::uint32_t* by_lane) {
  return are_equal_here<std::uint32_t>(mask, by_lane);
}

BadLanes resolve_mbarriers(Warp& w, const Op* op, bool own_only, LaneMbarriers& out) {
  const ptx::Space space = op->what->memory.front().space;
  const std::uint64_t window = w.block->grid->memory->windows().shared;
  lane_addresses(w, op, space, out.addresses);
  const auto first = static_cast<std::size_t>(std::countr_zero(w.mask));
  out.one = are_equal(w.mask, out.addresses);
  if (out.one &&
      find_own(w, out.addresses[first] - (space == ptx::Space::generic ? window : 0), out))
    return {};
  LanePlaces places;
  // One address is looked up once.
  const std::uint32_t different = out.one ? w.mask & -w.mask : w.mask;
  const auto all = [&](std::uint32_t bad) { return bad && out.one ? w.mask : bad; };
  const BadLanes bad =
      resolve_lanes(w, op, different, space, out.addresses, async::mbarrier::size, true, places);
  if (bad.lanes) return {all(bad.lanes), bad.kind};
  if (const std::uint32_t elsewhere = different & ~places.shared)
    return {all(elsewhere), FaultKind::invalid_address_space};
  std::uint32_t others = 0;
  each_lane(different, [&](int l) {
    const SharedPlace place = shared_place(
        *w.block, space == ptx::Space::generic ? out.addresses[l] - window : out.addresses[l]);
    out.blocks[l] = place.block;
    out.offsets[l] = place.offset;
    if (place.block != w.block) others |= 1u << l;
  });
  if (own_only && others) return {all(others), FaultKind::illegal_instruction};
  if (out.one) {
    std::fill_n(out.blocks, lanes, out.blocks[first]);
    std::fill_n(out.offsets, lanes, out.offsets[first]);
  }
  return {};
}

}  // namespace inflight::machine
