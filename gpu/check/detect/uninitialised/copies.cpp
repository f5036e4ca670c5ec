// Undefined bytes in copies, allocations and accesses by the host.
#include <algorithm>
#include <bit>

#include "gpu/check/detect/uninitialised/uninitialised.hpp"

namespace inflight::check::uninitialised {

namespace {

// Adjacent runs of equal size, each entirely read.
struct Runs {
  CopyRun all;
  std::uint32_t each = 0;  // bytes of one

  // Adds the run if it is adjacent to the last one.
  bool extend(const CopyRun& run) {
    if (run.bytes != each || run.source_bytes != each || all.source_bytes != all.bytes ||
        run.destination != all.destination + all.bytes || run.source != all.source + all.bytes)
      return false;
    all.bytes += each, all.source_bytes += each;
    return true;
  }
};

// Whether the lanes of a cp.async copy adjacent runs. Then sets `runs` to all of them.
bool are_adjacent(const CopyIssued& copy, Runs& runs) {
  if (!copy.by_lane) return false;
  const auto [destination, source, source_bytes] = *copy.by_lane;
  const int first = std::countr_zero(copy.who.mask);
  std::uint64_t to = destination[first], from = source[first], differ = 0;
  for (Mask m = copy.who.mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    differ |= (destination[l] ^ to) | (source[l] ^ from) | (source_bytes[l] ^ copy.bytes);
    to += copy.bytes, from += copy.bytes;
  }
  const auto bytes = static_cast<std::uint32_t>(from - source[first]);
  runs = {{static_cast<std::uint32_t>(first), destination[first], source[first], bytes, bytes},
          copy.bytes};
  return differ == 0;
}

}  // namespace

void Uninitialised::copy_issued(const CopyIssued& copy) {
  UndefinedBlock* const block = find(copy.who);
  if (!block) return;
  // Adjacent runs, as the lanes of a warp copy them, are looked up together.
  const auto flush = [&](const Runs& runs) {
    const CopyRun& all = runs.all;
    if (all.bytes == 0) return;
    if (copy.reduces) check_reduced(copy, all, *block);
    copy_over(copy, all, *block);
    if (copy.of_values || !is_undefined(copy, *block, all.source, all.source_bytes)) return;
    CopyRun run = all;
    run.bytes = runs.each, run.source_bytes = std::min(runs.each, all.source_bytes);
    for (std::uint32_t done = 0; done < all.bytes; done += runs.each) {
      copy_undefined(copy, run, *block);
      run.destination += runs.each, run.source += runs.each;
    }
  };
  Runs runs;
  if (are_adjacent(copy, runs)) return flush(runs);
  runs = {};
  copy.for_each_run([&](const CopyRun& run) {
    if (runs.extend(run)) return;
    flush(runs);
    runs = {run, run.bytes};
  });
  flush(runs);
}

bool Uninitialised::is_undefined(const CopyIssued& copy, const UndefinedBlock& block,
                                 std::uint64_t source, std::uint64_t bytes) const {
  if (copy.from == Space::global) return global_.undefined.has_any(source, bytes);
  const UndefinedBlock* const from =
      copy.from == Space::shared ? block.peer(copy.source_rank) : nullptr;
  return from && from->shared.has_any(source, bytes);
}

// A reduction uses what it finds at the destination.
void Uninitialised::check_reduced(const CopyIssued& copy, const CopyRun& run,
                                  UndefinedBlock& block) {
  UndefinedBlock* const to = copy.to == Space::shared ? block.peer(copy.destination_rank) : nullptr;
  if (copy.to == Space::shared && !to) return;
  const auto undefined = [&](std::uint64_t at, std::uint64_t bytes) {
    return to ? to->shared.has_any(at, bytes) : global_.undefined.has_any(at, bytes);
  };
  if (!undefined(run.destination, run.bytes)) return;
  Origin origin;
  origin.who = copy.who;
  origin.space = copy.to;
  origin.rank = copy.destination_rank;
  origin.address = run.destination, origin.bytes = run.bytes;
  while (!undefined(origin.address, 1)) ++origin.address, --origin.bytes;
  origin.barriers = (to ? *to : block).barriers;
  report(origin, {});
}

// The bytes of the destination are written.
void Uninitialised::copy_over(const CopyIssued& copy, const CopyRun& run, UndefinedBlock& block) {
  UndefinedBlock* const to = copy.to == Space::shared ? block.peer(copy.destination_rank) : nullptr;
  if (UndefinedBlock* const at = copy.to == Space::global ? &block : to;
      at && (!at->pending.empty() || !at->origins.empty()))
    settle(*at, copy.to, run.destination, run.bytes, copy.who);
  if (copy.to == Space::global)
    global_.write(run.destination, run.bytes);
  else if (to)
    write_shared(*to, run.destination, run.bytes);
}

// The undefined bytes of one run stay undefined at the destination.
void Uninitialised::copy_undefined(const CopyIssued& copy, const CopyRun& run,
                                   UndefinedBlock& block) {
  if (!is_undefined(copy, block, run.source, run.source_bytes)) return;
  UndefinedBlock* const to = copy.to == Space::shared ? block.peer(copy.destination_rank) : nullptr;
  const UndefinedBlock* const from =
      copy.from == Space::shared ? block.peer(copy.source_rank) : nullptr;
  bool stored = false;
  Origin s;
  s.who = copy.who;
  s.space = copy.from;
  s.rank = copy.source_rank;
  const auto root = to ? std::make_shared<Origin>(s) : nullptr;
  s.address = run.source, s.bytes = run.source_bytes;
  for (std::uint32_t i = 0; i < run.source_bytes; ++i) {
    if (!is_undefined(copy, block, run.source + i, 1)) continue;
    const std::uint64_t source = run.source + i;
    const std::uint8_t bits = from ? from->undefined_bits(source) : global_.undefined_bits(source);
    if (to) {
      to->shared.insert(run.destination + i, 1), to->copied.insert(run.destination + i, 1);
      to->causes[(run.destination + i) / word] = root;
      if (root->bytes == 0) root->address = source;
      root->bytes = source + 1 - root->address;
    }
    if (to) to->define_partly(run.destination + i, bits);
    if (copy.to != Space::global || !global_.known.has_any(run.destination + i, 1)) continue;
    global_.undefined.insert(run.destination + i, 1);
    global_.stored.insert(run.destination + i, 1);
    global_.define_partly(run.destination + i, bits);
    stored = true;
  }
  if (!stored) return;
  const PlaceId place = session_.places.of(copy.who);
  for (std::uint64_t page = run.destination >> page_shift;
       page <= (run.destination + run.bytes - 1) >> page_shift; ++page) {
    const std::lock_guard lock(mutex_);
    stored_by_[page] = place;
  }
  remember(place, make(s, {}));
}

void Uninitialised::mbarrier(const MbarrierOp& op) {
  if (op.op != MbarrierOp::Op::init) return;
  UndefinedBlock* const block = find(op.who);
  UndefinedBlock* const at = block ? block->peer(op.rank) : nullptr;
  if (at) at->shared.erase(op.address, 8);
}

void Uninitialised::allocation(const Allocation& event) {
  if (event.step == Allocation::Step::released && event.kind == Allocation::Kind::heap)
    if (UndefinedBlock* const block = find(event.who))
      settle(*block, Space::global, event.address, event.bytes, event.who);
  if (event.step == Allocation::Step::released && event.kind != Allocation::Kind::pool)
    return global_.end(event.address, event.bytes);
  const bool fresh =
      event.fresh || event.kind == Allocation::Kind::heap || event.kind == Allocation::Kind::pool;
  if (!fresh) return global_.end(event.address, event.bytes);  // may be written from outside
  const bool followed =
      event.kind == Allocation::Kind::device || event.kind == Allocation::Kind::heap;
  if (followed && event.name.empty()) global_.begin(event.address, event.bytes);
}

void Uninitialised::host_accessed(const HostAccess& access) {
  std::uint64_t to = access.destination, from = access.source;
  for (std::uint64_t row = 0; row < access.rows;
       ++row, to += access.destination_pitch, from += access.source_pitch) {
    const bool followed = global_.known.has_any(to, access.bytes);
    if (followed) global_.write(to, access.bytes);
    if (access.kind == HostAccess::Kind::set || from == 0 ||
        !global_.undefined.has_any(from, access.bytes))
      continue;
    if (followed) {
      global_.copy(from, to, access.bytes);
      continue;
    }
    if (global_.stored.never_used() || !global_.stored.has_any(from, access.bytes)) continue;
    const std::lock_guard lock(mutex_);
    for (std::uint64_t page = from >> page_shift; page <= (from + access.bytes - 1) >> page_shift;
         ++page) {
      const auto by = stored_by_.find(page);
      const auto found = by == stored_by_.end() ? stores_.end() : stores_.find(by->second);
      if (found == stores_.end()) continue;
      session_.findings.add({FindingKind::uninitialised_read, by->second}, [&] {
        Finding finding = found->second;
        const bool copy = access.call.empty();
        finding.there.push_back(
            {copy ? "copies the stored value to the host" : "reads the stored value",
             session_.places.at(session_.places.of_host(copy ? "a copy to the host" : access.call)),
             {}});
        return finding;
      });
    }
  }
}

}  // namespace inflight::check::uninitialised
