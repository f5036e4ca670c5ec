// Lanes of a warp whose addresses form an arithmetic series, rising or falling. It may have only
// every second, fourth or eighth lane.
#pragma once
#include <bit>
#include <cstdint>

#include "gpu/check/order/actor.hpp"

namespace inflight::shadow {

struct Series {
  order::Mask lanes = 0;
  std::int64_t step = 0;     // bytes from one lane to the next; 0: all at one address
  std::uint64_t origin = 0;  // address of lane 0, even if it is not in `lanes`
  unsigned gap = 0;          // lanes are 2^gap apart
  std::uint64_t at(unsigned lane) const { return origin + static_cast<std::uint64_t>(step) * lane; }
};

// The lanes l of the warp with addresses[l] == origin + l * step.
order::Mask lanes_of(const std::uint64_t* addresses, std::uint64_t origin, std::uint64_t step);

// Splits a set of lanes into series.
class SeriesOf {
 public:
  SeriesOf(const std::uint64_t* addresses, order::Mask lanes) : at_(addresses), left_(lanes) {}
  bool any() const { return left_ != 0; }

  // Removes and returns the next series: the lowest remaining lane, and those that follow it in
  // steps below `most`. The `bytes` bytes of two lanes are the same or do not overlap.
  Series next(std::int64_t most, std::int64_t bytes) {
    const auto first = static_cast<unsigned>(std::countr_zero(left_));
    const order::Mask rest = left_ & (left_ - 1);
    Series s{left_ ^ rest, 0, at_[first]};
    if (rest != 0) {
      const auto second = static_cast<unsigned>(std::countr_zero(rest));
      const auto lanes = static_cast<std::int64_t>(second - first);
      const auto distance = static_cast<std::int64_t>(at_[second] - at_[first]);
      const bool near = distance < most * lanes && distance > -most * lanes;
      if (near && divides(distance, lanes)) {
        s.step = lanes <= 2 ? distance >> (lanes - 1) : distance / lanes;
        s.origin -= static_cast<std::uint64_t>(s.step) * first;
        s.lanes = left_ & lanes_of(at_, s.origin, static_cast<std::uint64_t>(s.step));
        const std::int64_t step = s.step < 0 ? -s.step : s.step;
        while (step != 0 && step << s.gap < bytes && s.gap < 3) ++s.gap;
        if (step != 0 && step << s.gap < bytes)
          s = {left_ ^ rest, 0, at_[first]};
        else
          s.lanes &= every[s.gap] << (first & ((1u << s.gap) - 1));
      }
    }
    left_ &= ~s.lanes;
    return s;
  }

 private:
  // Avoids divisions, which are slow: lanes that follow each other are mostly one or two apart.
  static bool divides(std::int64_t distance, std::int64_t lanes) {
    return lanes <= 2 ? (distance & (lanes - 1)) == 0 : distance % lanes == 0;
  }
  static constexpr order::Mask every[] = {0xffffffff, 0x55555555, 0x11111111, 0x01010101};
  const std::uint64_t* at_;
  order::Mask left_;
};

}  // namespace inflight::shadow
