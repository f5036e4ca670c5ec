// Findings about undefined bytes: when they are reported, and their text.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "gpu/check/detect/uninitialised/uninitialised.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check::uninitialised {

namespace {

std::string_view name(Space space) {
  return space == Space::global ? "global" : space == Space::shared ? "shared" : "local";
}

// Whether the lane of `thread` writes these bytes.
bool writes(const Access& by, Mask thread, const PendingUse& use) {
  if (by.space != use.space || (by.written & thread) == 0) return false;
  const std::uint64_t at = by.addresses[std::countr_zero(thread)];
  return at < use.address + use.bytes && use.address < at + by.bytes;
}

// Says how many bytes of a variable were written.
std::string extent_of(const Bytes& bytes, std::uint64_t whole, std::uint64_t undefined) {
  if (bytes.variable.empty() || whole == 0) return {};
  return fmt::format(": of the {} bytes of '{}', {} were written", whole, readable(bytes.variable),
                     whole - undefined);
}

}  // namespace

void Uninitialised::report(const Origin& s, const User& by) {
  const Mask first = s.who.mask & (0u - s.who.mask);
  UndefinedBlock* const block = owner(s);
  if (!block) return;
  PendingUse use;
  use.key = {FindingKind::uninitialised_read, session_.places.of((s.cause ? *s.cause : s).who)};
  use.space = s.space;
  use.address = s.address, use.bytes = s.bytes;
  use.who = s.who;
  use.who.mask = first;
  use.barriers = s.barriers;
  if (known(use.key.here)) return session_.findings.add(use.key, [&] { return make(s, by); });
  if (std::any_of(block->pending.begin(), block->pending.end(),
                  [&](const PendingUse& other) { return other.key == use.key; }))
    return;
  const bool undefined = still_undefined(*block, use);
  // Not reported if another thread has written the bytes since, with no barrier between. This
  // thread's own stores do not count as that.
  if (s.space != Space::local && !undefined && block->barriers == s.barriers && !s.overwritten &&
      !(by.store && writes(*by.store, first, use)))
    return;
  use.finding = make(s, by);
  if (undefined && s.space != Space::local)
    block->pending.push_back(std::move(use));
  else
    report(use);
}

void Uninitialised::settle(UndefinedBlock& block, const Access& access) {
  for (Mask m = access.who.mask & access.written; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    UndefinedBlock* const at = access.ranks ? block.peer(access.ranks[lane]) : &block;
    Who who = access.who;
    who.mask = Mask{1} << lane;
    if (at) settle(*at, access.space, access.addresses[lane], access.bytes, who);
  }
}

void Uninitialised::note_overwritten(UndefinedBlock& block, Space space, std::uint64_t at,
                                     std::uint64_t bytes, const Who& who) {
  for (Origin& each : block.origins) {
    const Mask first = each.who.mask & (0u - each.who.mask);
    if (each.overwritten || each.space != space || each.who.warp != who.warp ||
        each.who.block != who.block || (who.mask & first) == 0 || each.rank != block.rank ||
        at >= each.address + each.bytes || each.address >= at + bytes)
      continue;
    const PendingUse use{.space = space, .address = each.address, .bytes = each.bytes};
    each.overwritten = still_undefined(block, use);
  }
}

void Uninitialised::settle(UndefinedBlock& block, Space space, std::uint64_t at,
                           std::uint64_t bytes, const Who& who) {
  note_overwritten(block, space, at, bytes, who);
  std::erase_if(block.pending, [&](PendingUse& use) {
    if (use.space != space || at >= use.address + use.bytes || use.address >= at + bytes)
      return false;
    const bool same_thread =
        who.block == use.who.block && who.warp == use.who.warp && (who.mask & use.who.mask) != 0;
    if (same_thread || block.barriers != use.barriers) report(use);
    return true;
  });
}

void Uninitialised::report(PendingUse& use) {
  {
    const std::lock_guard lock(mutex_);
    reported_.insert(use.key.here);
  }
  session_.findings.add(use.key, [&] { return std::move(use.finding); });
}

Finding Uninitialised::make(const Origin& last, const User& by) {
  const Origin& s = last.cause ? *last.cause : last;
  Places& places = session_.places;
  Finding finding;
  finding.kind = FindingKind::uninitialised_read;
  finding.here =
      places.party(s.who, fmt::format("reads {} bytes of {} memory", s.bytes, name(s.space)));
  finding.bytes = places.bytes(s.who, s.space, s.address, s.bytes);
  std::string extent;
  const Origin* const source = s.derived || s.partly ? nullptr : s.source.get();
  const Kernel* const kernel = places.kernel(s.who.launch);
  const UndefinedBlock* const block = owner(s);
  if (kernel && block && s.space == Space::shared && !source) {
    const Variable v = kernel->variable(*kernel, s.space, s.address, s.who.instruction);
    if (const std::uint64_t undefined = block->shared.count(v.address, v.bytes))
      extent = extent_of(*finding.bytes, v.bytes, undefined);
  }
  finding.sentence =
      source ? fmt::format("{} memory is read that holds only a copy of unwritten {} memory",
                           name(s.space), name(source->space))
             : fmt::format("{} memory is read that {}{}", name(s.space),
                           s.derived  ? "holds a value computed from unwritten memory"
                           : s.partly ? "has bits that nothing has written"
                           : s.copied ? "holds only a copy of unwritten memory"
                                      : "nothing has written",
                           extent);
  if (source)
    finding.there.push_back(places.party(
        source->who, fmt::format("reads {} bytes of {} memory that nothing has written",
                                 source->bytes, name(source->space))));
  if (last.cause)
    finding.there.push_back(places.party(
        last.who, fmt::format("reads {} bytes of {} memory that {}", last.bytes, name(last.space),
                              last.derived ? "were computed from it" : "hold a copy")));
  if (by.who) finding.there.push_back(places.party(*by.who, std::string(by.did)));
  switch (source ? source->space : s.space) {
    case Space::shared:
      finding.remedy =
          "write these bytes first: let the copies into shared memory cover all bytes that are "
          "read, fill the rest with zeros, or let only those threads read whose elements were "
          "copied";
      finding.rule = "PTX ISA, State Spaces: shared memory has no initial value";
      break;
    case Space::local:
      finding.remedy = "give the variable a value before it is read, on every path";
      finding.rule = "PTX ISA, State Spaces: local memory has no initial value";
      break;
    default:
      finding.remedy =
          "write all bytes that are read first: in a kernel, with cudaMemset or with a copy from "
          "the host; and if one of these is under way in another stream, let this kernel's stream "
          "wait for it (cudaEventRecord, cudaStreamWaitEvent)";
      finding.rule = "CUDA Runtime API, cudaMalloc: the memory is not cleared";
  }
  return finding;
}

}  // namespace inflight::check::uninitialised
