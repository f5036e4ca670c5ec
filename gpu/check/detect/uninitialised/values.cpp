// Loads of undefined bytes, and the uses and stores of their values.
#include <algorithm>
#include <bit>

#include "gpu/check/detect/uninitialised/uninitialised.hpp"

namespace inflight::check::uninitialised {
namespace {

constexpr std::uint64_t word = 4;
constexpr std::uint32_t most_bytes = 32;  // of a lane's access: UndefinedBytes has a bit for each

}  // namespace

// Makes this execution the Origin of its load instruction. Returns the origin's index plus one.
std::uint32_t Uninitialised::number(const Access& access, UndefinedBlock& block, Mask lanes) {
  const std::uint64_t key =
      std::uint64_t{access.who.warp} << 32 | std::uint64_t{access.who.instruction};
  const auto [at, fresh] =
      block.numbers.try_emplace(key, static_cast<std::uint32_t>(block.origins.size()));
  if (fresh) block.origins.emplace_back();
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
  origin.address = access.addresses[first] + begin;
  origin.bytes = static_cast<std::uint64_t>(std::bit_width(bytes)) - begin;
  const UndefinedBlock* const from = access.ranks ? block.peer(access.ranks[first]) : &block;
  origin.barriers = from ? from->barriers : block.barriers;
  if (access.space == Space::shared && from) {
    origin.copied = from->copied.has_any(origin.address, origin.bytes);
    origin.derived = origin.copied && from->derived.has_any(origin.address, origin.bytes);
    if (origin.derived)
      if (const auto cause = from->causes.find(origin.address / word); cause != from->causes.end())
        origin.cause = cause->second;
  }
  return at->second + 1;
}

void Uninitialised::check_load(const Access& access, UndefinedBlock& block) {
  if (!access.undefined || access.bytes > most_bytes) return;
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
  undefined.origin = number(access, block, partly);
}

void Uninitialised::check_atomic(const Access& access, UndefinedBlock& block) {
  if (access.wrote && access.written == access.who.mask) return;  // an exchange
  const Mask mask =
      undefined_lanes(access, global_, block, access.who.mask, 0, access.bytes, Extent::all);
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
  const UndefinedBytes& undefined = *access.undefined;
  const Mask lanes = undefined.lanes & access.who.mask & access.written;
  if (lanes == 0 || undefined.origin == 0 || undefined.origin > block.origins.size()) return;
  const Origin origin = block.origins[undefined.origin - 1];
  const std::uint32_t all =
      access.bytes >= most_bytes ? ~std::uint32_t{0} : (1u << access.bytes) - 1;
  Mask whole = 0;
  for (Mask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    whole |= Mask{undefined.bytes[lane] == all} << lane;
  }
  const bool from_block = origin.space != Space::global && (!origin.copied || origin.derived);
  const Mask leave =
      access.space == Space::global ? whole & (from_block ? ~Mask{0} : undefined.computed) : 0;
  if (leave != 0) {
    Who who = access.who;
    who.mask = leave;
    report(origin, {&who, "stores the value read, or a value computed from it", &access});
  }
  keep(access, block, lanes & ~leave, whole);
  if (access.space == Space::shared)
    keep_derived(access, block, origin, lanes & undefined.computed);
  if (access.space == Space::global && (whole & ~leave) != 0)
    remember_store(access, origin, whole & ~leave);
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
  }
}

void Uninitialised::keep_derived(const Access& access, UndefinedBlock& block, const Origin& from,
                                 Mask lanes) {
  if (lanes == 0) return;
  const auto cause = from.cause ? from.cause : std::make_shared<const Origin>(from);
  for (Mask m = lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    UndefinedBlock* const to = access.ranks ? block.peer(access.ranks[lane]) : &block;
    if (!to) continue;
    const std::uint64_t at = access.addresses[lane], end = at + access.bytes;
    to->derived.insert(at, access.bytes);
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
