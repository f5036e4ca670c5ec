// Looks up and changes the undefined bytes of a warp's access. Lanes that access one contiguous
// range are looked up together.
#include "gpu/check/detect/uninitialised/state.hpp"

#include <algorithm>
#include <bit>

#include "gpu/check/shadow/series.hpp"

namespace inflight::check::uninitialised {
namespace {

template <class F>
void each_lane(Mask mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

struct Range {
  std::uint64_t begin = 0, bytes = 0;
};

[[gnu::noinline]] Range range_of_some(const Access& a, Mask mask) {
  if (mask == 0) return {};
  const std::uint64_t begin = a.addresses[std::countr_zero(mask)];
  std::uint64_t end = begin;
  for (; mask != 0; mask &= mask - 1, end += a.bytes)
    if (a.addresses[std::countr_zero(mask)] != end) return {};
  return {begin, end - begin};
}

// The contiguous range that these lanes access in their order, or no bytes if it is not one.
inline Range one_range(const Access& a, Mask mask) {
  if (mask != ~Mask{0}) return range_of_some(a, mask);
  const std::uint64_t begin = a.addresses[0];
  if (a.in_row) return {begin, std::uint64_t{lanes} * a.bytes};
  const bool is_one = shadow::lanes_of(a.addresses, begin, a.bytes) == mask;
  return {begin, is_one ? std::uint64_t{lanes} * a.bytes : 0};
}

const UndefinedBlock* owner(const Access& a, const UndefinedBlock& block, unsigned lane) {
  return a.ranks ? block.peer(a.ranks[lane]) : &block;
}

Mask global_lanes(const Access& a, const UndefinedGlobal& global, Mask mask, std::uint32_t from,
                  std::uint32_t bytes, Extent extent) {
  const Range range = one_range(a, mask);
  if (range.bytes ? !global.undefined.has_any(range.begin, range.bytes)
                  : global.undefined.has_none_near(a.addresses, mask, a.bytes))
    return 0;
  Mask found = 0;
  each_lane(mask, [&](unsigned l) {
    const std::uint64_t at = a.addresses[l] + from;
    const bool is = extent == Extent::any ? global.undefined.has_any(at, bytes)
                                          : global.undefined.has_all(at, bytes);
    found |= Mask{is} << l;
  });
  return found;
}

Mask shared_lanes(const Access& a, const UndefinedBlock& block, Mask mask, std::uint32_t from,
                  std::uint32_t bytes, Extent extent) {
  if (!a.ranks && block.shared.empty()) return 0;
  if (extent == Extent::any && !a.ranks)
    if (const Range range = one_range(a, mask);
        range.bytes && !block.shared.has_any(range.begin, range.bytes))
      return 0;
  Mask found = 0;
  each_lane(mask, [&](unsigned l) {
    const UndefinedBlock* const at = owner(a, block, l);
    if (!at) return;
    const bool is = extent == Extent::any ? at->shared.has_any(a.addresses[l] + from, bytes)
                                          : at->shared.has_all(a.addresses[l] + from, bytes);
    found |= Mask{is} << l;
  });
  return found;
}

constexpr std::uint64_t most_local = 1u << 20;  // bytes of local memory that are followed

// Whether these lanes access the same address of their local memory.
bool one_place(const Access& a, Mask mask) {
  const std::uint64_t first = a.addresses[std::countr_zero(mask)];
  bool same = true;
  each_lane(mask, [&](unsigned l) { same &= a.addresses[l] == first; });
  return same;
}

Mask local_lanes(const Access& a, const UndefinedWarp& warp, Mask mask, std::uint32_t from,
                 std::uint32_t bytes, Extent extent) {
  Mask found = 0;
  if (one_place(a, mask)) {
    const std::uint64_t begin = a.addresses[std::countr_zero(mask)] + from;
    if (begin + bytes > most_local) return 0;
    Mask every = ~Mask{0}, one = 0;
    for (std::uint64_t at = begin; at < begin + bytes; ++at) {
      const Mask written = at < warp.local.size() ? warp.local[at] : 0;
      every &= written, one |= written;
    }
    return mask & ~(extent == Extent::any ? every : one);
  }
  each_lane(mask, [&](unsigned l) {
    std::uint32_t written = 0;
    if (a.addresses[l] + from + bytes > most_local) return;
    for (std::uint64_t at = a.addresses[l] + from, end = at + bytes; at < end; ++at)
      written += at < warp.local.size() ? warp.local[at] >> l & 1 : 0;
    const bool is = extent == Extent::any ? written < bytes : written == 0;
    found |= Mask{is} << l;
  });
  return found;
}

void forget_parts(const Access& a, UndefinedWarp& warp, Mask mask, std::uint32_t from,
                  std::uint32_t bytes) {
  if (warp.partly.empty()) return;
  each_lane(mask, [&](unsigned l) {
    for (std::uint32_t i = from; i < from + bytes; ++i)
      warp.partly.erase((a.addresses[l] + i) * lanes + l);
  });
}

void forget_causes(const Access& a, UndefinedWarp& warp, Mask mask, std::uint32_t from,
                   std::uint32_t bytes) {
  if (warp.causes.empty()) return;
  each_lane(mask, [&](unsigned l) {
    const std::uint64_t begin = a.addresses[l] + from, end = begin + bytes;
    for (std::uint64_t at = begin / word; at * word < end; ++at) warp.causes.erase(at * lanes + l);
  });
}

void set_local(const Access& a, UndefinedWarp& warp, Mask mask, std::uint32_t from,
               std::uint32_t bytes, bool written) {
  forget_causes(a, warp, mask, from, bytes);
  if (one_place(a, mask)) {
    const std::uint64_t begin = a.addresses[std::countr_zero(mask)] + from, end = begin + bytes;
    if (end > most_local) return;
    if (warp.local.size() < end) warp.local.resize(end);
    for (std::uint64_t at = begin; at < end; ++at)
      warp.local[at] = written ? warp.local[at] | mask : warp.local[at] & ~mask;
    forget_parts(a, warp, mask, from, bytes);
    return;
  }
  each_lane(mask, [&](unsigned l) {
    const std::uint64_t begin = a.addresses[l] + from, end = begin + bytes;
    if (end > most_local) return;
    if (warp.local.size() < end) warp.local.resize(end);
    for (std::uint64_t at = begin; at < end; ++at)
      warp.local[at] = written ? warp.local[at] | Mask{1} << l : warp.local[at] & ~(Mask{1} << l);
  });
  forget_parts(a, warp, mask, from, bytes);
}

}  // namespace

void UndefinedBlock::define_partly(std::uint64_t at, std::uint8_t undefined) {
  if (undefined == 0xff) return;
  if (!partly) partly = std::make_unique<shadow::PartlyDefined<shadow::Bits>>(shared.size());
  partly->insert(at, undefined);
}

void UndefinedGlobal::define_partly(std::uint64_t address, std::uint8_t undefined) {
  if (undefined == 0xff) return;
  std::call_once(once_, [&] {
    made_ = std::make_unique<Partly>();
    partly_.store(made_.get(), std::memory_order_release);
  });
  made_->insert(address, undefined);
}

void write_shared(UndefinedBlock& block, std::uint64_t at, std::uint64_t bytes) {
  if (block.shared.empty()) return;
  block.shared.erase(at, bytes);
  if (!block.copied.empty()) block.copied.erase(at, bytes), block.derived.erase(at, bytes);
  if (block.partly) block.partly->erase(at, bytes);
}

Mask undefined_lanes(const Access& a, const UndefinedGlobal& global, const UndefinedBlock& block,
                     Mask mask, std::uint32_t from, std::uint32_t bytes, Extent extent) {
  switch (a.space) {
    case Space::global:
      return global_lanes(a, global, mask, from, bytes, extent);
    case Space::shared:
      return shared_lanes(a, block, mask, from, bytes, extent);
    case Space::local:
      return local_lanes(a, block.warps[a.who.warp], mask, from, bytes, extent);
    default:
      return 0;
  }
}

void write_lanes(const Access& a, UndefinedGlobal& global, UndefinedBlock& block, Mask mask) {
  switch (a.space) {
    case Space::global:
      if (const Range range = one_range(a, mask); range.bytes)
        return global.write(range.begin, range.bytes);
      return each_lane(mask, [&](unsigned l) { global.write(a.addresses[l], a.bytes); });
    case Space::shared:
      if (!a.ranks)
        if (const Range range = one_range(a, mask); range.bytes)
          return write_shared(block, range.begin, range.bytes);
      return each_lane(mask, [&](unsigned l) {
        UndefinedBlock* const at = a.ranks ? block.peer(a.ranks[l]) : &block;
        if (at) write_shared(*at, a.addresses[l], a.bytes);
      });
    case Space::local:
      return set_local(a, block.warps[a.who.warp], mask, 0, a.bytes, true);
    default:
      return;
  }
}

void write_undefined(const Access& a, UndefinedGlobal& global, UndefinedBlock& block, Mask mask,
                     std::uint32_t from, std::uint32_t bytes, Mask stored) {
  if (a.space == Space::local)
    return set_local(a, block.warps[a.who.warp], mask, from, bytes, false);
  each_lane(mask, [&](unsigned l) {
    const std::uint64_t at = a.addresses[l] + from;
    if (a.space == Space::global && global.known.has_all(at, bytes)) {
      global.undefined.insert(at, bytes);
      if (stored >> l & 1) global.stored.insert(at, bytes);
    }
    UndefinedBlock* const to = a.ranks ? block.peer(a.ranks[l]) : &block;
    if (a.space == Space::shared && to) to->shared.insert(at, bytes), to->copied.insert(at, bytes);
  });
}

void write_cause(const Access& a, UndefinedBlock& block, Mask mask,
                 const std::shared_ptr<const Origin>& load) {
  auto& causes = block.warps[a.who.warp].causes;
  each_lane(mask, [&](unsigned l) {
    const std::uint64_t begin = a.addresses[l], end = begin + a.bytes;
    if (end > most_local) return;
    for (std::uint64_t from = begin; from < end; from = (from / word + 1) * word) {
      const std::uint64_t size = std::min((from / word + 1) * word, end) - from;
      const std::uint32_t all = (1u << size) - 1;
      if ((a.undefined->bytes[l] >> (from - begin) & all) == all)
        causes[from / word * lanes + l] = {load, (a.undefined->computed >> l & 1) != 0};
    }
  });
}

const LocalCause* cause_at(const UndefinedBlock& block, std::uint32_t warp, unsigned lane,
                           std::uint64_t address) {
  const auto& causes = block.warps[warp].causes;
  const auto found = causes.find(address / word * lanes + lane);
  return found == causes.end() ? nullptr : &found->second;
}

std::uint64_t place_of(const Access& a, const UndefinedBlock& block, unsigned lane) {
  if (a.space != Space::shared) return a.addresses[lane];
  return std::uint64_t{a.ranks ? a.ranks[lane] : block.rank} << 32 | a.addresses[lane];
}

Mask partly_lanes(const Access& a, const UndefinedGlobal& global, const UndefinedBlock& block,
                  Mask mask) {
  Mask found = 0;
  each_lane(mask, [&](unsigned l) {
    const std::uint64_t at = a.addresses[l];
    bool is = false;
    if (a.space == Space::global) is = global.is_partly_defined(at, a.bytes);
    if (a.space == Space::shared)
      if (const UndefinedBlock* const from = owner(a, block, l))
        is = from->partly && from->partly->has_any(at, a.bytes);
    if (a.space == Space::local && !block.warps[a.who.warp].partly.empty())
      for (std::uint32_t i = 0; i < a.bytes; ++i)
        is = is || undefined_bits(a, global, block, l, i) != 0xff;
    found |= Mask{is} << l;
  });
  return found;
}

std::uint8_t undefined_bits(const Access& a, const UndefinedGlobal& global,
                            const UndefinedBlock& block, unsigned lane, std::uint32_t byte) {
  const std::uint64_t at = a.addresses[lane] + byte;
  if (a.space == Space::global) return global.undefined_bits(at);
  if (a.space == Space::shared) {
    const UndefinedBlock* const from = owner(a, block, lane);
    return from ? from->undefined_bits(at) : 0xff;
  }
  const auto& partly = block.warps[a.who.warp].partly;
  const auto found = partly.find(at * lanes + lane);
  return found == partly.end() ? 0xff : found->second;
}

void define_partly(const Access& a, UndefinedGlobal& global, UndefinedBlock& block, unsigned lane,
                   std::uint32_t byte, std::uint8_t undefined) {
  const std::uint64_t at = a.addresses[lane] + byte;
  if (a.space == Space::global && global.undefined.has_any(at, 1))
    global.define_partly(at, undefined);
  UndefinedBlock* const to = a.ranks ? block.peer(a.ranks[lane]) : &block;
  if (a.space == Space::shared && to) to->define_partly(at, undefined);
  if (a.space == Space::local && at < most_local && undefined != 0xff)
    block.warps[a.who.warp].partly[at * lanes + lane] = undefined;
}

}  // namespace inflight::check::uninitialised
