// Lanes of a warp whose addresses go up, or down, in equal steps; perhaps every second lane alone,
// or every fourth or eighth.
#pragma once
#ifdef __SSE2__
#  include <emmintrin.h>
#endif

#include <bit>
#include <cstdint>

#include "gpu/check/order/actor.hpp"

namespace inflight::shadow {

struct Series {
  order::Mask lanes = 0;
  std::int64_t step = 0;     // from one lane to the next; 0: all at one address
  std::uint64_t origin = 0;  // where lane 0 is, or would be
  unsigned gap = 0;          // only lanes 2^gap apart
  std::uint64_t at(unsigned lane) const { return origin + static_cast<std::uint64_t>(step) * lane; }
};

// The lanes of the warp that are where a series has them.
inline order::Mask lanes_of(const std::uint64_t* addresses, std::uint64_t origin,
                            std::uint64_t step) {
  order::Mask found = 0;
#ifdef __SSE2__
  // Four lanes at a time: their differences from the series, both halves of each.
  __m128i expected =
      _mm_set_epi64x(static_cast<std::int64_t>(origin + step), static_cast<std::int64_t>(origin));
  const __m128i two = _mm_set1_epi64x(static_cast<std::int64_t>(2 * step));
  for (unsigned l = 0; l < order::lanes; l += 4) {
    const auto* at = reinterpret_cast<const __m128i*>(addresses + l);
    const __m128i a = _mm_xor_si128(_mm_loadu_si128(at), expected);
    expected = _mm_add_epi64(expected, two);
    const __m128i b = _mm_xor_si128(_mm_loadu_si128(at + 1), expected);
    expected = _mm_add_epi64(expected, two);
    const __m128 x = _mm_castsi128_ps(a), y = _mm_castsi128_ps(b);
    const __m128i differ = _mm_or_si128(_mm_castps_si128(_mm_shuffle_ps(x, y, 0x88)),
                                        _mm_castps_si128(_mm_shuffle_ps(x, y, 0xdd)));
    const __m128i same = _mm_cmpeq_epi32(differ, _mm_setzero_si128());
    found |= static_cast<order::Mask>(_mm_movemask_ps(_mm_castsi128_ps(same))) << l;
  }
#else
  for (unsigned l = 0; l < order::lanes; ++l, origin += step)
    found |= order::Mask{addresses[l] == origin} << l;
#endif
  return found;
}

// Takes series out of a set of lanes, until none is left.
class SeriesOf {
 public:
  SeriesOf(const std::uint64_t* addresses, order::Mask lanes) : at_(addresses), left_(lanes) {}
  bool any() const { return left_ != 0; }

  // The next one: the lowest lane that is left, and those that go on from it in steps below `most`.
  // Their bytes, so many each, do not overlap unless they are the same.
  Series next(std::int64_t most, std::int64_t bytes) {
    const auto first = static_cast<unsigned>(std::countr_zero(left_));
    const order::Mask rest = left_ & (left_ - 1);
    Series s{left_ ^ rest, 0, at_[first]};
    if (rest != 0) {
      const auto second = static_cast<unsigned>(std::countr_zero(rest));
      const auto lanes = static_cast<std::int64_t>(second - first);
      const auto distance = static_cast<std::int64_t>(at_[second] - at_[first]);
      const bool near = distance < most * lanes && distance > -most * lanes;
      // Divisions take their time, and mostly there is nothing to divide.
      if (near && (lanes == 1 || distance % lanes == 0)) {
        s.step = lanes == 1 ? distance : distance / lanes;
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
  static constexpr order::Mask every[] = {0xffffffff, 0x55555555, 0x11111111, 0x01010101};
  const std::uint64_t* at_;
  order::Mask left_;
};

}  // namespace inflight::shadow
