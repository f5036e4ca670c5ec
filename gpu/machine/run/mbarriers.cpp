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

bool are_equal(std::uint32_t mask, const std::uint64_t* addresses) {
  const std::uint64_t first = addresses[std::countr_zero(mask)];
  std::uint64_t differ = 0;
  if (mask == ~0u)
    for (int l = 0; l < lanes; ++l) differ |= addresses[l] ^ first;
  else
    each_lane(mask, [&](int l) { differ |= addresses[l] ^ first; });
  return differ == 0;
}

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
