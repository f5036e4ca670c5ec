// Deferred reads without their number: for each element of shared memory, which lanes of a warp
// have read it, and where last. It has a bounded size, however often a loop reads a table.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/check/order/actor.hpp"
#include "gpu/check/reads/read_log.hpp"

namespace inflight::shadow {

class ReadSummary {
 public:
  // Add reads oldest first.
  void add(const NotedRead& read);
  bool empty() const { return warps_.empty(); }
  void clear() { warps_.clear(); }
  // Calls f(read) with reads of one element by lanes that have read it in the same epoch at the
  // same place. The epochs of an element and a warp rise.
  template <class F>
  void each(F f) const {
    for (std::uint32_t warp = 0; warp < warps_.size(); ++warp)
      for (std::uint32_t page = 0; page < pages; ++page)
        for (std::uint32_t i = 0; warps_[warp][page] && i < page_elements; ++i)
          for (const Readers* const by : by_epoch((*warps_[warp][page])[i]))
            if (by->lanes != 0) f(noted(warp, page * page_elements + i, *by));
  }
  std::size_t heap_bytes() const;

 private:
  // Elements are the 16,384 words of 64 KB, and then its 65,536 bytes.
  static constexpr std::uint32_t words = 1 << 14, elements = words + (1 << 16);
  static constexpr std::uint32_t page_elements = 64, pages = elements / page_elements;
  // As many as a line keeps of each byte.
  static constexpr std::size_t kept = 4;
  struct Readers {
    order::Mask lanes = 0;
    std::uint32_t place = 0, epoch = 0;
  };
  using Element = std::array<Readers, kept>;
  using Page = std::array<Element, page_elements>;
  using Warp = std::array<std::unique_ptr<Page>, pages>;

  static void note(Element& element, order::Mask lane, const NotedRead& read);
  static std::array<const Readers*, kept> by_epoch(const Element& element);
  static NotedRead noted(std::uint32_t warp, std::uint32_t element, const Readers& by);

  std::vector<Warp> warps_;  // by number
};

}  // namespace inflight::shadow
