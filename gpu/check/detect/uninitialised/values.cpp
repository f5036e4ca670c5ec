// Loads of undefined bytes, and the uses and stores of their values.
#include <algorithm>
#include <bit>

#include "gpu/check/detect/uninitialised/uninitialised.hpp"

namespace inflight::check::uninitialised {
namespace {

constexpr std::uint32_t most_bytes = UndefinedBytes::most;

std::shared_ptr<const Origin> cause_of(const Origin& origin) {
  return origin.cause    ? origin.cause
         : origin.source ? origin.source
                         : std::make_shared<const Origin>(origin);
}

// Whether the bytes are unwritten shared or local memory, or computed from undefined bytes.
bool is_from_block(const Origin& origin) {
  if (origin.space == Space::global) return false;
  if (!origin.copied || origin.derived) return true;
  const Origin* const from = origin.cause.get();
  return from && from->space != Space::global && (!from->copied || from->derived);
}

}  // namespace

void Uninitialised::remember_load(const Access& access, const UndefinedBlock& block, Mask lanes,
                                  Loaded& loaded) {
  loaded.space = access.space, loaded.lanes = lanes, loaded.bytes = access.bytes;
  loaded.parts.reset();
  const UndefinedBytes& undefined = *access.undefined;
  for (Mask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    loaded.places[lane] = place_of(access, block, lane);
    for (std::uint32_t i = 0; (undefined.partly >> lane & 1) && i < access.bytes; ++i)
      if (undefined.bytes[lane] >> i & 1) loaded.parts.set(undefined.bits[lane][i]);
  }
}

// Makes this execution the Origin of its load instruction. Returns the origin's index plus one.
std::uint32_t Uninitialised::number(const Access& access, UndefinedBlock& block, Mask lanes) {
  const std::uint64_t key =
      std::uint64_t{access.who.warp} << 32 | std::uint64_t{access.who.instruction};
  const auto [at, fresh] =
      block.numbers.try_emplace(key, static_cast<std::uint32_t>(block.origins.size()));
  if (fresh) block.origins.emplace_back(), block.loaded.emplace_back();
  Origin& origin = block.origins[at->second];
  const UndefinedBytes& undefined = *access.undefined;
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const std::uint32_t bytes = undefined.bytes[first];
  const auto begin = static_cast<unsigned>(std::countr_zero(bytes));
  origin = {};
  origin.who = access.who;
  origin.who.mask = lanes;
  origin.space = access.space;
  origin.rank = access.ranks ? access.ranks[first] : block.rank;
  origin.partly = undefined.partly >> first & 1;
  origin.address = access.addresses[first] + begin;
  origin.bytes = static_cast<std::uint64_t>(std::bit_width(bytes)) - begin;
  remember_load(access, block, lanes, block.loaded[at->second]);
  const UndefinedBlock* const from = access.ranks ? block.peer(access.ranks[first]) : &block;
  origin.barriers = from ? from->barriers : block.barriers;
  if (access.space == Space::shared && from) {
    origin.copied = from->copied.has_any(origin.address, origin.bytes);
    origin.derived = origin.copied && from->derived.has_any(origin.address, origin.bytes);
    if (origin.copied)
      if (const auto cause = from->causes.find(origin.address / word); cause != from->causes.end())
        (origin.derived ? origin.cause : origin.source) = cause->second;
  }
  if (access.space == Space::local)
    if (const LocalCause* const at = cause_at(block, access.who.warp, first, origin.address))
      origin.cause = at->load, origin.copied = true, origin.derived = at->derived;
  return at->second + 1;
}

void Uninitialised::check_load(const Access& access, UndefinedBlock& block) {
  if (!access.undefined || access.bytes > most_bytes) return;
  if (access.log && !block.shared.empty()) access.log->refused = true;
  const Mask partly =
      undefined_lanes(access, global_, block, access.who.mask, 0, access.bytes, Extent::any);
  if (partly == 0) return;
  UndefinedBytes& undefined = *access.undefined;
  for (Mask m = partly; m != 0; m &= m - 1)
    undefined.bytes[static_cast<unsigned>(std::countr_zero(m))] = 0;
  for (std::uint32_t i = 0; i < access.bytes; ++i)
    for (Mask m = undefined_lanes(access, global_, block, partly, i, 1, Extent::any); m != 0;
         m &= m - 1)
      undefined.bytes[static_cast<unsigned>(std::countr_zero(m))] |= 1u << i;
  undefined.lanes |= partly;
  for (Mask m = partly_lanes(access, global_, block, partly); m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    undefined.partly |= Mask{1} << lane;
    for (std::uint32_t i = 0; i < access.bytes; ++i)
      undefined.bits[lane][i] = undefined_bits(access, global_, block, lane, i);
  }
  undefined.origin = number(access, block, partly);
}

void Uninitialised::check_atomic(const Access& access, UndefinedBlock& block) {
  if (access.wrote && access.written == access.who.mask) return;  // an exchange
  Mask mask =
      undefined_lanes(access, global_, block, access.who.mask, 0, access.bytes, Extent::all);
  mask &= ~partly_lanes(access, global_, block, mask);
  if (mask == 0) return;
  Origin origin;
  origin.who = access.who;
  origin.who.mask = mask;
  origin.space = access.space;
  const int first = std::countr_zero(mask);
  origin.rank = access.ranks ? access.ranks[first] : block.rank;
  origin.address = access.addresses[first], origin.bytes = access.bytes;
  const UndefinedBlock* const from = access.ranks ? block.peer(access.ranks[first]) : &block;
  origin.barriers = from ? from->barriers : block.barriers;
  report(origin, {});
}

// Storing an undefined value in shared or local memory is no mistake unless it is used later: scans
// run over whole warps, and halos over the edge of a tile. Nor is a copy to global memory, or a
// partly undefined value such as padding. Storing a wholly undefined value to global memory is a
// mistake if it was computed, or loaded from shared or local bytes that are not a mere copy.
void Uninitialised::stored(const Access& access, UndefinedBlock& block) {
  UndefinedBytes& undefined = *access.undefined;
  const Mask lanes = undefined.lanes & access.who.mask & access.written;
  if (lanes == 0 || undefined.origin == 0 || undefined.origin > block.origins.size()) return;
  const Origin origin = block.origins[undefined.origin - 1];
  judge_bits(access, block, block.loaded[undefined.origin - 1]);
  const std::uint32_t all =
      access.bytes >= most_bytes ? ~std::uint32_t{0} : (1u << access.bytes) - 1;
  Mask whole = 0;
  for (Mask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    whole |= Mask{undefined.bytes[lane] == all} << lane;
  }
  whole &= ~undefined.partly;
  const bool from_block = is_from_block(origin);
  const Mask leave =
      access.space == Space::global ? whole & (from_block ? ~Mask{0} : undefined.computed) : 0;
  if (leave != 0) {
    Who who = access.who;
    who.mask = leave;
    report(origin, {&who, "stores the value read, or a value computed from it", &access});
  }
  keep(access, block, lanes & ~leave, whole);
  if (access.space == Space::shared) keep_causes(access, block, origin, lanes);
  if (access.space == Space::local)
    write_cause(access, block, lanes & ~undefined.partly, cause_of(origin));
  if (access.space == Space::global && (whole & ~leave) != 0)
    remember_store(access, origin, whole & ~leave);
}

// Bits of a byte that are stored where they were loaded are left as they were: the thread has
// assigned other bits. A byte with the undefined bits of a loaded one may be a copy of it. Any
// other selection of bits is computed.
void Uninitialised::judge_bits(const Access& access, const UndefinedBlock& block,
                               const Loaded& loaded) {
  UndefinedBytes& undefined = *access.undefined;
  for (Mask m = undefined.partly & access.who.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t place = place_of(access, block, lane);
    const bool same = loaded.space == access.space && (loaded.lanes >> lane & 1);
    for (std::uint32_t i = 0; i < access.bytes; ++i) {
      const std::uint8_t bits = undefined.bits[lane][i];
      if (!(undefined.bytes[lane] >> i & 1) || bits == 0xff || loaded.parts.test(bits)) continue;
      if (same && place + i - loaded.places[lane] < loaded.bytes) continue;
      undefined.computed |= Mask{1} << lane;
      const std::uint32_t size = std::max(undefined.element, 1u), from = i / size * size;
      for (std::uint32_t j = from; j < from + size; ++j)
        undefined.bytes[lane] |= 1u << j, undefined.bits[lane][j] = 0xff;
    }
    const auto& bits = undefined.bits[lane];
    if (std::all_of(bits.begin(), bits.begin() + access.bytes, [](auto b) { return b == 0xff; }))
      undefined.partly &= ~(Mask{1} << lane);
  }
}

// Makes the stored bytes as undefined in memory as they are in the register.
void Uninitialised::keep(const Access& access, UndefinedBlock& block, Mask lanes, Mask whole) {
  const UndefinedBytes& undefined = *access.undefined;
  while (lanes != 0) {
    std::uint32_t bytes = undefined.bytes[static_cast<unsigned>(std::countr_zero(lanes))];
    Mask alike = 0;
    for (Mask m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      alike |= Mask{undefined.bytes[lane] == bytes} << lane;
    }
    lanes &= ~alike;
    while (bytes != 0) {
      const auto from = static_cast<std::uint32_t>(std::countr_zero(bytes));
      const auto count = static_cast<std::uint32_t>(std::countr_one(bytes >> from));
      write_undefined(access, global_, block, alike, from, count, alike & whole);
      bytes &= count + from >= 32 ? 0 : ~std::uint32_t{0} << (from + count);
    }
    for (Mask m = alike & undefined.partly; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      for (std::uint32_t i = 0; i < access.bytes; ++i)
        if (undefined.bytes[lane] >> i & 1)
          define_partly(access, global_, block, lane, i, undefined.bits[lane][i]);
    }
  }
}

void Uninitialised::keep_causes(const Access& access, UndefinedBlock& block, const Origin& from,
                                Mask lanes) {
  if (lanes == 0) return;
  const auto cause = cause_of(from);
  for (Mask m = lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    UndefinedBlock* const to = access.ranks ? block.peer(access.ranks[lane]) : &block;
    if (!to) continue;
    const std::uint64_t at = access.addresses[lane], end = at + access.bytes;
    if (access.undefined->computed >> lane & 1) to->derived.insert(at, access.bytes);
    for (std::uint64_t each = at / word; each * word < end; ++each) to->causes[each] = cause;
  }
}

void Uninitialised::remember_store(const Access& access, const Origin& origin, Mask lanes) {
  const PlaceId place = session_.places.of(origin.who);
  for (Mask m = lanes; m != 0; m &= m - 1) {
    const std::uint64_t at = access.addresses[std::countr_zero(m)];
    bool fresh = false;
    {
      const std::lock_guard lock(mutex_);
      auto& by = stored_by_[at >> page_shift];
      fresh = std::exchange(by, place) != place && !stores_.contains(place);
    }
    Who who = access.who;
    who.mask = lanes;
    if (fresh) remember(place, make(origin, {&who, "stores the value read", nullptr}));
  }
}

void Uninitialised::undefined_used(const UndefinedUse& event) {
  UndefinedBlock* const block = find(event.who);
  if (!block || event.origin == 0 || event.origin > block->origins.size()) return;
  const Origin origin = block->origins[event.origin - 1];
  switch (event.how) {
    case UndefinedUse::How::branch:
      return report(
          origin, {&event.who, "branches on the value read, or a value computed from it", nullptr});
    case UndefinedUse::How::address:
      return report(
          origin,
          {&event.who, "uses the value read, or a value computed from it, as an address", nullptr});
    case UndefinedUse::How::operand:
      return report(
          origin,
          {&event.who, "uses the value read, or a value computed from it, as an operand", nullptr});
  }
}

void Uninitialised::remember(PlaceId place, Finding finding) {
  const std::lock_guard lock(mutex_);
  stores_.try_emplace(place, std::move(finding));
}

}  // namespace inflight::check::uninitialised
