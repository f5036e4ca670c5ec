// Values loaded from undefined bytes, until something comes of them.
#include <algorithm>
#include <bit>

#include "gpu/check/detect/uninitialised/uninitialised.hpp"

namespace inflight::check::uninitialised {

void Uninitialised::check_load(const Access& access, UndefinedBlock& block, UndefinedWarp& warp) {
  const Mask partly =
      undefined_lanes(access, global_, block, access.who.mask, 0, access.bytes, Extent::any);
  if (partly == 0 && warp.suspects.empty()) return;
  for (Suspect& s : warp.suspects)
    if (s.who.instruction == access.who.instruction) s.who.mask &= ~access.who.mask;
  if (partly != 0) suspect(access, block, warp, partly);
  std::erase_if(warp.suspects, [](const Suspect& s) { return s.who.mask == 0; });
}

void Uninitialised::suspect(const Access& access, UndefinedBlock& block, UndefinedWarp& warp,
                            Mask partly) {
  const Kernel* const kernel = session_.places.kernel(access.who.launch);
  Loads* loads = nullptr;
  {
    const std::lock_guard lock(mutex_);
    loads = loads_[access.who.launch].get();
  }
  if (!kernel || !loads) return;
  const LoadedValue* const value = loads->of(*kernel, access.who.instruction);
  if (value->sinks.empty()) return;
  const std::uint32_t bytes = access.bytes / value->elements;
  const Mask whole = undefined_lanes(access, global_, block, partly, 0, access.bytes, Extent::all);
  for (std::uint32_t e = 0; e < value->elements; ++e) {
    const Mask mask =
        undefined_lanes(access, global_, block, partly, e * bytes, bytes, Extent::all);
    if (mask == 0) continue;
    Suspect s;
    s.value = value;
    s.who = access.who;
    s.who.mask = mask;
    s.alone = mask & whole;
    s.space = access.space;
    s.element = static_cast<std::uint8_t>(e);
    const int first = std::countr_zero(mask);
    s.address = access.addresses[first] + std::uint64_t{e} * bytes, s.bytes = bytes;
    s.rank = access.ranks ? access.ranks[first] : block.rank;
    if (const UndefinedBlock* const at = access.ranks ? block.peer(access.ranks[first]) : &block;
        access.space == Space::shared && at)
      s.copied = at->copied.has_any(s.address, bytes),
      s.derived = s.copied && at->derived.has_any(s.address, bytes);
    const bool at_once = std::any_of(value->sinks.begin(), value->sinks.end(), [&](const auto& k) {
      return k.instruction == access.who.instruction && k.element == e && !k.as_is;
    });
    if (at_once && s.alone != 0) report(s, s.alone, nullptr);
    if (!at_once) warp.suspects.push_back(s);
  }
}

void Uninitialised::check_atomic(const Access& access, UndefinedBlock& block) {
  if (access.wrote && access.written == access.who.mask) return;  // an exchange
  const Mask mask =
      undefined_lanes(access, global_, block, access.who.mask, 0, access.bytes, Extent::all);
  if (mask == 0) return;
  Suspect s;
  s.who = access.who;
  s.who.mask = mask;
  s.space = access.space;
  const int first = std::countr_zero(mask);
  s.rank = access.ranks ? access.ranks[first] : block.rank;
  s.address = access.addresses[first], s.bytes = access.bytes;
  report(s, mask, nullptr);
}

namespace {

// What a block keeps for itself is no more defined than what it was computed from, and no mistake
// while nobody uses it: scans run over whole warps, halos over the rim of a tile.
bool stays_in_block(const Access& access) {
  return access.kind == Access::Kind::store &&
         (access.space == Space::shared || access.space == Space::local);
}

}  // namespace

void Uninitialised::keep_derived(const Access& access, UndefinedBlock& block, Mask mask) {
  write_undefined(access, global_, block, mask, 0, access.bytes, mask);
  if (access.space != Space::shared) return;
  for (Mask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    UndefinedBlock* const to = access.ranks ? block.peer(access.ranks[lane]) : &block;
    if (to) to->derived.insert(access.addresses[lane], access.bytes);
  }
}

void Uninitialised::use(const Access& access, UndefinedBlock& block, UndefinedWarp& warp) {
  for (Suspect& s : warp.suspects) {
    for (const ValueSink& sink : s.value->sinks) {
      if (sink.instruction != access.who.instruction || sink.element != s.element) continue;
      const Mask mask = s.who.mask & access.who.mask;
      if (mask == 0) continue;
      if (sink.as_is)
        store(access, block, s, mask, sink);
      else if (const Mask alone = mask & s.alone; alone != 0) {
        if (stays_in_block(access))
          keep_derived(access, block, alone);
        else
          report(s, alone, &access);
        s.who.mask &= ~mask;
      }
    }
  }
  std::erase_if(warp.suspects, [](const Suspect& s) { return s.who.mask == 0; });
}

void Uninitialised::store(const Access& access, UndefinedBlock& block, Suspect& s, Mask mask,
                          const ValueSink& sink) {
  const Mask alone = mask & s.alone;
  if (access.space == Space::global && s.space != Space::global && (!s.copied || s.derived) &&
      alone != 0) {
    report(s, alone, &access);
    s.who.mask &= ~alone;
    return;
  }
  const auto bytes = static_cast<std::uint32_t>(s.bytes);
  write_undefined(access, global_, block, mask, sink.target * bytes, bytes, alone);
  if (access.space != Space::global || alone == 0) return;
  const PlaceId place = session_.places.of(s.who);
  for (Mask m = alone; m != 0; m &= m - 1) {
    const std::uint64_t at = access.addresses[std::countr_zero(m)] + sink.target * bytes;
    bool fresh = false;
    {
      const std::lock_guard lock(mutex_);
      auto& by = stored_by_[at >> page_shift];
      fresh = std::exchange(by, place) != place && !stores_.contains(place);
    }
    if (fresh) remember(place, make(s, &access));
  }
}

void Uninitialised::remember(PlaceId place, Finding finding) {
  const std::lock_guard lock(mutex_);
  stores_.try_emplace(place, std::move(finding));
}

}  // namespace inflight::check::uninitialised
