// From accesses of warps to records of lines: lanes side by side are one record.
#include "gpu/check/shadow/shadow.hpp"

#include <bit>

namespace inflight::shadow {

using namespace order;

Shadow::Page& Shadow::Shard::page(std::uint64_t number) {
  if (number == last) return *last_page;
  std::unique_ptr<Page>& p = pages[number];
  if (!p) p = std::make_unique<Page>();
  last = number;
  last_page = p.get();
  return *p;
}

void Shadow::run(const Actor& actor, const Record& record, std::uint64_t address,
                 std::uint64_t bytes, std::vector<Conflict>& conflicts) {
  const Judge judge(actor, space_);
  for (const std::uint64_t end = address + bytes, start = address; address < end;) {
    const std::uint64_t line = address / line_bytes, line_start = line * line_bytes;
    Record r = record;
    r.begin = static_cast<std::uint8_t>(address - line_start);
    r.end = static_cast<std::uint8_t>(std::min<std::uint64_t>(line_bytes, end - line_start));
    if (r.width != 0)
      r.base =
          static_cast<std::int16_t>(record.base + static_cast<std::int64_t>(start - line_start));
    const std::size_t before = conflicts.size();
    Shard& s = shard(line / page_lines);
    std::unique_lock hold(s.lock, std::defer_lock);
    if (space_ == Space::global) hold.lock();  // a block's own has one caller at a time
    s.forgotten +=
        s.page(line / page_lines)[line % page_lines].access(r, judge, limits_, conflicts);
    for (std::size_t c = before; c < conflicts.size(); ++c) conflicts[c].address += line_start;
    address = line_start + r.end;
  }
}

void Shadow::lanes(const Actor& actor, Row row, Epoch epoch, const Access& access, Mask mask,
                   std::vector<Conflict>& conflicts) {
  Record r;
  r.row = row;
  r.epoch = epoch;
  r.place = access.place;
  r.width = static_cast<std::uint16_t>(access.bytes);
  r.write = access.write;
  r.strong = access.strong;
  r.scope = static_cast<std::uint8_t>(access.scope);
  const std::uint64_t* at = access.addresses;
  while (mask != 0) {
    const unsigned first = std::countr_zero(mask);
    unsigned last = first;
    Mask same = Mask{1} << first;
    while (last + 1 < order::lanes && mask >> (last + 1) & 1 &&
           at[last + 1] == at[last] + access.bytes)
      same |= Mask{1} << ++last;
    r.together = false;
    for (Mask m = mask & ~same; last == first && m != 0; m &= m - 1) {
      const unsigned l = std::countr_zero(m);
      if (at[l] != at[first]) break;
      same |= Mask{1} << l;
      r.together = true;
    }
    mask &= ~same;
    r.lanes = same;
    r.base = static_cast<std::int16_t>(r.together ? 0 : -static_cast<int>(first * access.bytes));
    run(actor, r, at[first], std::uint64_t{access.bytes} * (last - first + 1), conflicts);
  }
}

void Shadow::access(const Block& block, std::uint32_t warp, const Access& access,
                    std::vector<Conflict>& conflicts) {
  for (const Views::Group& g : block.groups(warp)) {
    const Mask part = g.lanes & access.lanes;
    if (part == 0) continue;
    const Actor actor{g.view.get(), block.place(), warp, &block};
    lanes(actor, warp_row(block.row(), Part::thread, warp), block.epoch(), access, part, conflicts);
  }
}

void Shadow::copy(const Block& block, std::uint32_t warp, const Access& access,
                  std::vector<Conflict>& conflicts) {
  for (const Views::Group& g : block.groups(warp)) {
    const Mask part = g.lanes & access.lanes;
    if (part == 0) continue;
    const Actor actor{g.view.get(), block.place(), warp, &block, true};
    lanes(actor, warp_row(block.row(), Part::group_copy, warp), block.epoch(), access, part,
          conflicts);
  }
}

namespace {

Record record_of(const Performer& by, const Range& range) {
  Record r;
  r.row = by.row;
  r.epoch = by.epoch;
  r.place = range.place;
  r.lanes = Mask{1} << by.lane;
  r.together = true;
  r.write = range.write;
  r.async = range.async;
  r.strong = range.strong;
  if (range.strong) r.scope = static_cast<std::uint8_t>(Scope::gpu);
  return r;
}

}  // namespace

void Shadow::copy(const Block& block, std::uint32_t warp, unsigned lane, const Performer& by,
                  const Range& range, std::vector<Conflict>& conflicts) {
  const Actor actor{&block.view(warp, lane), block.place(), warp, &block, true,
                    static_cast<int>(lane)};
  run(actor, record_of(by, range), range.address, range.bytes, conflicts);
}

void Shadow::host_copy(const Knowledge& knows, const Performer& by, const Range& range,
                       std::vector<Conflict>& conflicts) {
  Snapshot snapshot;
  snapshot.known = knows;
  Place place;
  place.block = by.row;
  const Actor actor{&snapshot, place, 0, nullptr, true, static_cast<int>(by.lane)};
  run(actor, record_of(by, range), range.address, range.bytes, conflicts);
}

void Shadow::restamp(const Performer& by, Epoch epoch, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  for (std::uint64_t line = address / line_bytes; line <= (address + bytes - 1) / line_bytes;
       ++line) {
    Shard& s = shard(line / page_lines);
    const std::lock_guard hold(s.lock);
    const auto p = s.pages.find(line / page_lines);
    if (p != s.pages.end())
      (*p->second)[line % page_lines].restamp(by.row, by.lane, by.epoch, epoch);
  }
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
  for (std::uint64_t at = address, end = address + bytes; at < end;) {
    const std::uint64_t page = at / page_bytes, next = std::min(end, (page + 1) * page_bytes);
    Shard& s = shard(page);
    const std::lock_guard hold(s.lock);
    if (const auto p = s.pages.find(page); p != s.pages.end()) {
      if (next - at == page_bytes) {
        s.pages.erase(p);
        s.last = ~std::uint64_t{0};
      } else {
        for (std::uint64_t l = at / line_bytes; l * line_bytes < next; ++l) {
          const std::uint64_t start = l * line_bytes;
          (*p->second)[l % page_lines].forget(
              static_cast<std::uint32_t>(std::max(at, start) - start),
              static_cast<std::uint32_t>(std::min<std::uint64_t>(next - start, line_bytes)));
        }
      }
    }
    at = next;
  }
}

std::size_t Shadow::bytes() const {
  std::size_t sum = sizeof *this;
  for (const Shard& s : shards_) {
    const std::lock_guard hold(s.lock);
    for (const auto& [number, page] : s.pages) {
      sum += sizeof *page + 4 * sizeof(void*);
      for (const Line& l : *page) sum += l.heap_bytes();
    }
  }
  return sum;
}

std::uint64_t Shadow::forgotten() const {
  std::uint64_t sum = 0;
  for (const Shard& s : shards_) {
    const std::lock_guard hold(s.lock);
    sum += s.forgotten;
  }
  return sum;
}

}  // namespace inflight::shadow
