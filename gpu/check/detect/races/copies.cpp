// Copies: the bytes that they access, checked at issue, and the waits for them.
#include <algorithm>
#include <bit>

#include "gpu/check/detect/races/races.hpp"

namespace inflight::check::races {
namespace {

constexpr std::size_t most_copies = 4096;  // remembered at a time; the oldest is dropped

// The lanes of `mask` that know that their own copies up to `epoch` are complete.
Mask know_of(const Block& block, std::uint32_t warp, order::Part part, Mask mask,
             order::Epoch epoch) {
  Mask done = 0;
  for (const auto& group : block.order.groups(warp))
    if (group.view->waited[static_cast<std::size_t>(part) - 1] >= epoch) done |= group.lanes;
  return done & mask;
}

// `mask` without lanes that make the same copy as the lane before. Cooperative groups let lanes
// that have nothing left to copy do so.
Mask distinct(Mask mask, const LaneRuns& runs) {
  const auto [to, from, bytes] = runs;
  Mask kept = mask;
  unsigned last = lanes;
  for (Mask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    if (last < lanes && to[l] == to[last] && from[l] == from[last] && bytes[l] == bytes[last])
      kept &= ~(Mask{1} << l);
    else
      last = l;
  }
  return kept;
}

// Two lanes that copy to the same destination from different sources; `a` is the lower lane.
// Destinations are multiples of the copy size, so two are equal or do not overlap.
struct Clash {
  unsigned a = lanes, b = lanes;
};
Clash clash_of(Mask mask, const LaneRuns& runs) {
  const auto [to, from, source_bytes] = runs;
  constexpr unsigned slots = 128;  // a hash table of lanes by destination; 0: free
  std::array<std::uint8_t, slots> table{};
  for (Mask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    unsigned at = static_cast<unsigned>(std::uint64_t{to[l]} * 0x9e3779b97f4a7c15 >> 57);
    for (; table[at]; at = (at + 1) % slots) {
      const unsigned other = table[at] - 1u;
      if (to[other] != to[l]) continue;
      if ((from[other] != from[l] || source_bytes[other] != source_bytes[l]) &&
          (source_bytes[other] || source_bytes[l]))
        return {other, l};
      break;
    }
    if (!table[at]) table[at] = static_cast<std::uint8_t>(l + 1);
  }
  return {};
}

// What the lanes of a cp.async read and write together.
struct Together {
  std::uint64_t to[lanes];  // destinations
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  Mask reading = 0;   // lanes that read anything
  bool whole = true;  // each reads as many bytes as it writes
  bool apart = true;  // each lane copies to higher addresses than the lane before

  explicit Together(const CopyIssued& event) {
    std::copy_n(event.by_lane->destination, lanes, to);
    std::uint32_t differ = 0;
    for (Mask m = event.who.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      const std::uint32_t bytes = event.by_lane->source_bytes[l];
      differ |= bytes ^ event.bytes;
      reading |= bytes != 0 ? m & -m : 0;
      apart &= to[l] >= end;
      begin = std::min(begin, to[l]), end = std::max(end, to[l] + event.bytes);
    }
    whole = differ == 0;
  }
};

}  // namespace

void Races::copy_issued(const CopyIssued& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  block->repeats.forget();
  block->constants.forget();
  if (event.tensor_map != 0) {
    check_map_order(*block, event);
    map_used(*block, event);
  }
  if (event.completion == Completion::thread_group)
    copy_of_threads(*block, event);
  else if (event.bytes != 0)
    bulk_copy(*block, event);
}

// The issuing thread of a tensor copy counts as reading its tensor map, once per launch. This finds
// writes by copies and other kernels. Writes by the same kernel are checked in detect/tensor_maps.
void Races::map_used(Block& block, const CopyIssued& event) {
  const auto known = block.maps.begin() + std::min(block.map_count, block.maps.size());
  if (std::find(block.maps.begin(), known, event.tensor_map) != known) return;
  block.maps[block.map_count++ % block.maps.size()] = event.tensor_map;
  {
    const std::lock_guard lock(mutex_);
    if (!maps_used_.emplace(event.who.launch, event.tensor_map).second) return;
  }
  std::uint64_t addresses[lanes];
  std::fill(addresses, addresses + lanes, event.tensor_map);
  global_.access(
      block.order, event.who.warp,
      {addresses, event.who.mask & -event.who.mask, 128, session_.places.of(event.who), false},
      block.conflicts);
  report(event.who, block, Space::global);
}

// The bytes that lanes read, those of equally many together.
void Races::read_by_copy(Block& block, const CopyIssued& event, PlaceId place, Mask reading,
                         bool whole) {
  const LaneRuns& runs = *event.by_lane;
  while (reading != 0) {
    const std::uint32_t bytes = runs.source_bytes[std::countr_zero(reading)];
    Mask same = whole ? reading : 0;
    for (Mask m = whole ? 0 : reading; m != 0; m &= m - 1)
      if (runs.source_bytes[std::countr_zero(m)] == bytes) same |= m & -m;
    reading &= ~same;
    global_.copy(block.order, event.who.warp, {runs.source, same, bytes, place, false},
                 block.conflicts);
  }
  report(event.who, block, Space::global);
}

void Races::copy_of_threads(Block& block, const CopyIssued& event) {
  const LaneRuns& runs = *event.by_lane;
  const Together all(event);
  const std::uint64_t* const to = all.to;
  const std::uint32_t warp = event.who.warp;
  const PlaceId place = block.place_of(event.who, session_.places);
  read_by_copy(block, event, place, all.reading, all.whole);
  if (block.living_in(all.begin, all.end - all.begin))
    for (Mask m = event.who.mask; m != 0; m &= m - 1)
      if (const std::uint64_t at = to[std::countr_zero(m)];
          const Mbarrier* const lives = block.living_in(at, event.bytes))
        reporter_.overwritten(event.who, *lives, at, event.bytes);
  const Mask writing = all.apart ? event.who.mask : distinct(event.who.mask, runs);
  block.shared.copy(block.order, warp, {to, writing, event.bytes, place, true}, block.conflicts);
  auto made = std::make_unique<Copy>();
  Copy& copy = *made;
  for (unsigned l = 0; l < lanes; ++l) copy.from[l] = runs.source[l] - to[l];
  // Copies of the same source to the same destination do not conflict.
  std::erase_if(block.conflicts, [&](const shadow::Conflict& c) {
    const auto same =
        std::find_if(block.copies.begin(), block.copies.end(), [&](const auto& other) {
          return other->by.row == c.earlier.row && other->by.epoch == c.earlier.epoch &&
                 other->place == c.earlier.place &&
                 other->from[c.earlier.lane] == copy.from[c.later.lane];
        });
    return same != block.copies.end();
  });
  const Clash clash = all.apart ? Clash{} : clash_of(event.who.mask, runs);
  if (clash.a < lanes) {
    shadow::Conflict c;
    c.why = shadow::Why::at_once;
    c.later.row = order::warp_row(block.order.row(), order::Part::group_copy, warp);
    c.later.lane = clash.b;
    c.later.epoch = block.order.epoch();
    c.later.place = place;
    c.later.write = c.later.async = true;
    c.earlier = c.later;
    c.earlier.lane = clash.a;
    c.address = to[clash.b];
    c.bytes = event.bytes;
    block.conflicts.push_back(c);
  }
  report(event.who, block, Space::shared);
  copy.id = event.id;
  copy.who = event.who;
  copy.place = place;
  copy.bytes = event.bytes;
  copy.reading = copy.writing = event.who.mask;
  copy.to_shared = true;
  copy.by = {order::warp_row(block.order.row(), order::Part::group_copy, warp), 0,
             block.order.epoch()};
  if (block.copies.size() == most_copies) block.copies.erase(block.copies.begin());
  block.copies.push_back(std::move(made));
}

void Races::range(Block& block, const CopyIssued& event, unsigned lane, const shadow::Performer& by,
                  Copy::Span span, bool write) {
  const Space space = span.owner ? Space::shared : Space::global;
  if (span.owner && write && !span.owner->live_words.empty())
    if (const Mbarrier* const lives = span.owner->living_in(span.address, span.bytes))
      reporter_.overwritten(event.who, *lives, span.address, span.bytes);
  // A reduction is a relaxed atomic operation, so two may overlap, and so are the accesses of a
  // strong copy. Values from registers are stored through the generic proxy.
  const bool strong = event.strong || (write && event.reduces);
  shadow_of(span.owner)
      .copy(block.order, event.who.warp, lane, by,
            {span.address, span.bytes, session_.places.of(event.who), write,
             event.proxy == Proxy::async && !event.of_values, strong},
            block.conflicts);
  report(event.who, block, space);
}

namespace {

// Whether this bulk copy belongs to another execution than the last one. In one execution, the
// lanes of a warp issue their copies in turn, in ascending order.
bool is_new_execution(Block::BulkIssue& last, const Who& who) {
  const bool same = last.warp == who.warp && last.instruction == who.instruction &&
                    last.lanes < (who.mask & -who.mask);
  last = {who.warp, who.instruction, same ? last.lanes | who.mask : who.mask};
  return !same;
}

}  // namespace

void Races::bulk_copy(Block& block, const CopyIssued& event) {
  const std::uint32_t warp = event.who.warp;
  if (is_new_execution(block.bulk_issue, event.who)) block.order.tick();
  const auto lane = static_cast<unsigned>(std::countr_zero(event.who.mask));
  auto copy = std::make_unique<Copy>();
  copy->id = event.id;
  copy->completion = event.completion;
  copy->who = event.who;
  copy->place = session_.places.of(event.who);
  copy->bytes = event.bytes;
  copy->from_shared = event.from == Space::shared && !event.of_values;
  copy->to_shared = event.to == Space::shared;
  copy->source = copy->from_shared ? peer(block, event.source_rank) : nullptr;
  copy->destination = copy->to_shared ? peer(block, event.destination_rank) : nullptr;
  shadow::Performer reads{order::warp_row(block.order.row(), order::Part::bulk_read, warp), lane,
                          block.order.epoch()};
  shadow::Performer writes{order::warp_row(block.order.row(), order::Part::bulk_write, warp), lane,
                           block.order.epoch()};
  const bool on_mbarrier = event.completion == Completion::transaction;
  if (on_mbarrier) {
    Block* const owner = peer(block, event.mbarrier_rank);
    if (!owner) return;
    Mbarrier& m = mbarrier_at(*owner, static_cast<std::uint32_t>(event.mbarrier));
    check_published(block, m, event.who);
    if (event.proxy == Proxy::async && !event.of_values) check_init_fenced(block, m, event.who);
    if (event.named_rank != event.mbarrier_rank) reporter_.names_other_block(event);
    if (owner != &block) used_remotely(block, *owner, event.who, event.who.mask);
    copy->on = &m;
    copy->before_init = !m.live;
    copy->completed = m.completed;
    reads = writes = {m.order.row(), m.order.lane(), owner->order.tick()};
  }
  copy->by = writes;
  // Adjacent runs are merged.
  Copy::Span read, write;
  const auto flush = [&](Copy::Span& span, const shadow::Performer& by, bool writing) {
    if (span.bytes == 0) return;
    range(block, event, lane, by, span, writing);
    if (on_mbarrier) copy->spans.push_back(span);
    span.bytes = 0;
  };
  const auto add = [&](Copy::Span& span, const shadow::Performer& by, bool writing, Block* owner,
                       std::uint64_t address, std::uint32_t bytes) {
    if (bytes == 0) return;
    if (span.bytes && span.address + span.bytes != address) flush(span, by, writing);
    if (!span.bytes) span = {owner, address, 0};
    span.bytes += bytes;
  };
  event.for_each_run([&](const CopyRun& run) {
    if (!event.of_values) add(read, reads, false, copy->source, run.source, run.source_bytes);
    add(write, writes, true, copy->destination, run.destination, run.bytes);
  });
  flush(read, reads, false);
  flush(write, writes, true);
  if (on_mbarrier) {
    copy->issued = block.order.issue(warp, lane);
    auto& all = block.cluster->transactions;
    if (all.size() == most_copies) all.erase(all.begin());
    all.push_back(std::move(copy));
    return;
  }
  copy->reading = copy->writing = event.who.mask;
  if (block.copies.size() == most_copies) block.copies.erase(block.copies.begin());
  block.copies.push_back(std::move(copy));
}

void Races::copy_committed(const CopyCommitted& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  block->bulk_issue = {};
  block->order.commit(event.who.warp, event.who.mask, event.completion == Completion::bulk_group);
}

void Races::copy_waited(const CopyWaited& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  const std::uint32_t warp = event.who.warp;
  const bool bulk = event.completion == Completion::bulk_group;
  if (bulk)
    block->order.wait_bulk(warp, event.who.mask, event.allowed, event.read_only);
  else if (event.allowed == CopyWaited::all_copies)
    block->order.wait_all(warp, event.who.mask);
  else
    block->order.wait_group(warp, event.who.mask, event.allowed);
  using order::Part;
  bool any_over = false;
  for (const auto& each : block->copies) {
    Copy& copy = *each;
    if (copy.who.warp != warp || copy.completion != event.completion) continue;
    const Mask mask = event.who.mask;
    if (bulk) copy.reading &= ~know_of(*block, warp, Part::bulk_read, mask, copy.by.epoch);
    const Mask done =
        know_of(*block, warp, bulk ? Part::bulk_write : Part::group_copy, mask, copy.by.epoch);
    copy.writing &= ~done;
    if (!bulk) copy.reading &= ~done;
    any_over |= (copy.reading | copy.writing) == 0;
  }
  if (any_over)
    std::erase_if(block->copies,
                  [](const auto& copy) { return (copy->reading | copy->writing) == 0; });
}

}  // namespace inflight::check::races
