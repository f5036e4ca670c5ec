// Adds reads to a summary, element by element.
#include "gpu/check/shadow/read_summary.hpp"

#include <algorithm>
#include <bit>

namespace inflight::shadow {

void ReadSummary::note(Element& element, order::Mask lane, const NotedRead& read) {
  Readers* own = nullptr;
  Readers* free = element.data();
  for (Readers& each : element) {
    each.lanes &= ~lane;  // this read comes later in program order
    if (each.place == read.place && each.epoch == read.epoch) own = &each;
    if (free->lanes != 0 && (each.lanes == 0 || each.epoch < free->epoch)) free = &each;
  }
  if (own)
    own->lanes |= lane;
  else
    *free = {lane, read.place, read.epoch};
}

std::array<const ReadSummary::Readers*, ReadSummary::kept> ReadSummary::by_epoch(
    const Element& element) {
  std::array<const Readers*, kept> sorted;
  for (std::size_t i = 0; i < kept; ++i) sorted[i] = &element[i];
  std::sort(sorted.begin(), sorted.end(),
            [](const Readers* a, const Readers* b) { return a->epoch < b->epoch; });
  return sorted;
}

void ReadSummary::add(const NotedRead& read) {
  if (read.warp >= warps_.size()) warps_.resize(read.warp + 1);
  Warp& warp = warps_[read.warp];
  for (order::Mask m = read.lanes; m != 0; m &= m - 1) {
    const std::uint32_t at = read.addresses[static_cast<unsigned>(std::countr_zero(m))];
    const bool by_words = (at | read.bytes) % 4 == 0;
    const std::uint32_t first = by_words ? at / 4 : words + at;
    const std::uint32_t count = by_words ? read.bytes / 4 : read.bytes;
    const std::uint32_t end = std::min(first + count, by_words ? words : elements);
    for (std::uint32_t element = first; element < end; ++element) {
      auto& page = warp[element / page_elements];
      if (!page) page = std::make_unique<Page>();
      note((*page)[element % page_elements], m & -m, read);
    }
  }
}

NotedRead ReadSummary::noted(std::uint32_t warp, std::uint32_t element, const Readers& by) {
  NotedRead read;
  read.addresses.fill(static_cast<std::uint16_t>(element < words ? element * 4 : element - words));
  read.lanes = by.lanes;
  read.bytes = element < words ? 4 : 1;
  read.place = by.place, read.warp = warp, read.epoch = by.epoch;
  return read;
}

std::size_t ReadSummary::heap_bytes() const {
  std::size_t sum = warps_.capacity() * sizeof(Warp);
  for (const Warp& warp : warps_)
    for (const auto& page : warp)
      if (page) sum += sizeof *page;
  return sum;
}

}  // namespace inflight::shadow
