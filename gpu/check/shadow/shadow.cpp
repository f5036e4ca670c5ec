// Converts accesses of warps to records of lines. Adjacent lanes become one record.
#include "gpu/check/shadow/shadow.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace inflight::shadow {

using namespace order;

void Shadow::line(Judge& judge, const Record& record, std::uint64_t number,
                  std::vector<Conflict>& conflicts) {
  judge.at(reinterpret_cast<std::uintptr_t>(this) ^ number * line_bytes);
  const std::size_t before = conflicts.size();
  const auto access = [&](Line& at) { return at.access(record, judge, limits_, conflicts); };
  shared_ ? shared_->with(number, access) : own_.with(number, access);
  for (std::size_t c = before; c < conflicts.size(); ++c)
    conflicts[c].address += number * line_bytes;
}

void Shadow::span(Judge& judge, Record& r, std::uint64_t address, std::uint64_t bytes,
                  std::vector<Conflict>& conflicts) {
  r.together = true;
  r.stride = 0;
  r.gap = 0;
  for (const std::uint64_t end = address + bytes, start = address; address < end;) {
    const std::uint64_t number = address / line_bytes, begin = number * line_bytes;
    const auto from = static_cast<std::uint32_t>(address - begin);
    const auto to = static_cast<std::uint32_t>(std::min<std::uint64_t>(line_bytes, end - begin));
    r.bytes = ByteMask::range(from, to);
    if (r.width != 0) r.base = static_cast<std::int16_t>(start - begin);
    line(judge, r, number, conflicts);
    address = begin + to;
  }
}

void Shadow::row(Judge& judge, Record& r, const Series& series, std::vector<Conflict>& conflicts) {
  r.together = false;
  r.gap = series.gap & 3;
  r.stride = static_cast<std::int8_t>(series.step << series.gap);
  const std::uint64_t origin = series.at(r.origin());
  const auto at_line = [&](std::uint64_t number) {
    r.base = static_cast<std::int16_t>(origin - number * line_bytes);
    line(judge, r, number, conflicts);
  };
  const auto first = static_cast<unsigned>(std::countr_zero(series.lanes));
  const unsigned last = 31u - static_cast<unsigned>(std::countl_zero(series.lanes));
  const std::uint64_t begin = series.at(first), end = series.at(last) + r.width;
  std::uint64_t upper = series.lanes >> first;
  for (unsigned g = 0; g < series.gap; ++g) upper |= upper << (1u << g);
  const bool whole = series.step << series.gap == r.width && (upper & (upper + 1)) == 0;
  if (whole) {  // the bytes of the series have no gaps
    for (std::uint64_t n = begin / line_bytes; n * line_bytes < end; ++n) {
      const std::uint64_t start = n * line_bytes;
      r.bytes = ByteMask::range(
          static_cast<std::uint32_t>(std::max(begin, start) - start),
          static_cast<std::uint32_t>(std::min<std::uint64_t>(end - start, line_bytes)));
      at_line(n);
    }
    return;
  }
  std::uint64_t number = begin / line_bytes;
  r.bytes = {};
  for (Mask m = series.lanes; m != 0; m &= m - 1) {
    const std::uint64_t at = series.at(static_cast<unsigned>(std::countr_zero(m)));
    if (at / line_bytes != number) {
      at_line(number);
      number = at / line_bytes;
      r.bytes = {};
    }
    const auto from = static_cast<std::uint32_t>(at % line_bytes);
    r.bytes = r.bytes | ByteMask::range(from, from + r.width);
  }
  at_line(number);
}

namespace {

// A conflict between the first two lanes of a store.
Conflict at_once(const Record& r, std::uint64_t address, std::uint32_t bytes) {
  const Mask others = r.lanes & (r.lanes - 1);
  const Side one{r.row,
                 static_cast<unsigned>(std::countr_zero(r.lanes)),
                 r.epoch,
                 r.place,
                 r.write,
                 r.strong,
                 r.async,
                 r.update,
                 static_cast<Scope>(r.scope),
                 r.lanes};
  Conflict c{Why::at_once, one, one, address, bytes};
  c.later.lane = static_cast<unsigned>(std::countr_zero(others));
  return c;
}

}  // namespace

// The lines of lanes at scattered addresses are mostly in no cache, so they are loaded together.
void Shadow::prefetch(const Access& access, Mask mask) const {
  const auto line_of = [&](int lane) { return access.addresses[lane] / line_bytes; };
  const int first = std::countr_zero(mask), last = 31 - std::countl_zero(mask);
  const auto near = [&](int a, int b) { return line_of(a) - line_of(b) + 8 <= 16; };
  if (access.in_row || (near(first, last) && near(first, (first + last) / 2))) return;
  std::uint64_t before = ~std::uint64_t{0};
  for (Mask m = mask; m != 0; m &= m - 1)
    if (const std::uint64_t line = line_of(std::countr_zero(m)); line != before)
      shared_->prefetch(before = line);
}

void Shadow::lanes(const Actor& actor, Row row_of, Epoch epoch, const Access& access, Mask mask,
                   std::vector<Conflict>& conflicts) {
  Record r;
  r.row = row_of;
  r.epoch = epoch;
  r.place = access.place;
  r.width = access.bytes <= line_bytes ? static_cast<std::uint8_t>(access.bytes) : 0;
  r.write = access.write;
  r.strong = access.strong;
  r.update = r.chained = access.update;
  r.scope = static_cast<std::uint8_t>(access.scope);
  Judge judge(actor, space_, limits_.own);
  // The usual case: a whole warp, a whole line.
  const std::uint64_t begin = access.addresses[0];
  if (mask == ~Mask{0} && access.bytes == line_bytes / order::lanes && begin % line_bytes == 0 &&
      (access.in_row || lanes_of(access.addresses, begin, access.bytes) == mask)) {
    r.lanes = mask;
    r.stride = static_cast<std::int8_t>(access.bytes);
    r.bytes = ByteMask::range(0, line_bytes);
    return line(judge, r, begin / line_bytes, conflicts);
  }
  if (shared_) prefetch(access, mask);
  // Aligned elements whose size is a power of two do not cross lines.
  const std::uint64_t parts =
      (access.bytes & (access.bytes - 1)) == 0 && access.bytes <= line_bytes ? access.bytes : 0;
  for (SeriesOf left(access.addresses, mask); left.any();) {
    const Series series = left.next(line_bytes, access.bytes);
    const bool apart = (series.lanes & (series.lanes - 1)) != 0 && series.step != 0;
    const std::uint64_t step = static_cast<std::uint64_t>(series.step) << series.gap;
    const std::uint64_t first = series.at(static_cast<unsigned>(std::countr_zero(series.lanes)));
    const bool in_lines =
        parts != 0 && step + line_bytes < 2 * line_bytes && ((first | step) & (parts - 1)) == 0;
    r.lanes = series.lanes;
    if (apart && in_lines) {
      row(judge, r, series, conflicts);
      continue;
    }
    if (access.differ && !apart && (series.lanes & (series.lanes - 1)) != 0)
      conflicts.push_back(at_once(r, first, access.bytes));
    for (Mask m = series.lanes; m != 0; m &= m - 1) {
      if (apart) r.lanes = m & -m;
      span(judge, r, series.at(static_cast<unsigned>(std::countr_zero(m))), access.bytes,
           conflicts);
      if (!apart) break;
    }
  }
}

void Shadow::settle(const Block& block, bool by_copy) {
  if (shared_) return;
  deferred_.before_write(block, by_copy, [&](const NotedRead& read) {
    std::array<std::uint64_t, order::lanes> addresses;
    std::copy(read.addresses.begin(), read.addresses.end(), addresses.begin());
    std::vector<Conflict> none;  // no write of its block is unordered with it
    access_at(block, read.warp, read.epoch, true,
              {addresses.data(), read.lanes, read.bytes, read.place}, none);
  });
}

void Shadow::access(const Block& block, std::uint32_t warp, const Access& access,
                    std::vector<Conflict>& conflicts) {
  if (access.write)
    settle(block, false);
  else if (!shared_ && limits_.own && deferred_.try_defer(block, warp, access))
    return;
  access_at(block, warp, block.epoch(), false, access, conflicts);
}

void Shadow::access_at(const Block& block, std::uint32_t warp, Epoch epoch, bool late,
                       const Access& access, std::vector<Conflict>& conflicts) {
  for (const Views::Group& g : block.groups(warp)) {
    const Mask part = g.lanes & access.lanes;
    if (part == 0) continue;
    const Actor actor{g.view.get(),
                      block.place(),
                      warp,
                      &block,
                      false,
                      -1,
                      late,
                      access.by_texture,
                      access.silent,
                      access.observes,
                      access.volatile_data};
    lanes(actor, warp_row(block.row(), Part::thread, warp), epoch, access, part, conflicts);
  }
}

void Shadow::copy(const Block& block, std::uint32_t warp, const Access& access,
                  std::vector<Conflict>& conflicts) {
  if (access.write) settle(block, true);
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
  if (range.write) settle(block, true);
  const Actor actor{&block.view(warp, lane), block.place(), warp, &block, true,
                    static_cast<int>(lane)};
  Record record = record_of(by, range);
  Judge judge(actor, space_, limits_.own);
  span(judge, record, range.address, range.bytes, conflicts);
}

void Shadow::host_copy(const Knowledge& knows, const Performer& by, const Range& range,
                       std::vector<Conflict>& conflicts) {
  Snapshot snapshot;
  snapshot.known = knows;
  Place place;
  place.block = by.row;
  const Actor actor{&snapshot, place, 0, nullptr, true, static_cast<int>(by.lane)};
  Record record = record_of(by, range);
  Judge judge(actor, space_, limits_.own);
  span(judge, record, range.address, range.bytes, conflicts);
}

void Shadow::host_write_all(const Knowledge& knows, const Performer& by, const Range& range,
                            std::vector<Conflict>& conflicts) {
  if (range.bytes == 0) return;
  shared_->begin_with(range.address, range.bytes, record_of(by, range));
  const std::uint64_t end = range.address + range.bytes;
  for (std::uint64_t at = range.address; at < end;) {
    const std::uint64_t next = std::min(end, (at / page_bytes + 1) * page_bytes);
    bool touched = false;
    shared_->with_page(at / page_bytes, [&](Page&) { touched = true; });
    Range part = range;
    part.address = at, part.bytes = next - at;
    if (touched) host_copy(knows, by, part, conflicts);
    at = next;
  }
}

void Shadow::restamp(const Performer& by, Epoch epoch, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  for (std::uint64_t line = address / line_bytes; line <= (address + bytes - 1) / line_bytes;
       ++line)
    with_page(line / page_lines, [&](Page& page) {
      page[line % page_lines].restamp(by.row, by.lane, by.epoch, epoch);
    });
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
  if (shared_) shared_->end_beginning(address, bytes);
  for (std::uint64_t at = address, end = address + bytes; at < end;) {
    const std::uint64_t number = at / page_bytes, next = std::min(end, (number + 1) * page_bytes);
    if (next - at == page_bytes)
      shared_ ? shared_->drop(number) : own_.drop(number);
    else
      with_page(number, [&](Page& page) {
        for (std::uint64_t l = at / line_bytes; l * line_bytes < next; ++l) {
          const std::uint64_t start = l * line_bytes;
          page[l % page_lines].forget(ByteMask::range(
              static_cast<std::uint32_t>(std::max(at, start) - start),
              static_cast<std::uint32_t>(std::min<std::uint64_t>(next - start, line_bytes))));
        }
      });
    at = next;
  }
}

std::size_t Shadow::bytes() const {
  std::size_t sum = sizeof *this + deferred_.heap_bytes();
  const auto add = [&](const Page& page) {
    sum += sizeof page + 4 * sizeof(void*);
    for (const Line& l : page) sum += l.heap_bytes();
  };
  shared_ ? shared_->each(add) : own_.each(add);
  return sum;
}

}  // namespace inflight::shadow
