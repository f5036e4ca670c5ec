// One access as the shadow keeps it: a row of actors, each with its bytes of one line.
#pragma once
#include <algorithm>
#include <cstdint>

#include "gpu/check/order/actor.hpp"

namespace inflight::shadow {

inline constexpr std::uint32_t line_bytes = 128;

struct Record {
  order::Row row = 0;
  order::Epoch epoch = 0;
  std::uint32_t place = 0;          // the caller's: an instruction
  order::Mask lanes = 0;            // who; of `together` each of them has all the bytes
  std::int16_t base = 0;            // in the line: where lane 0's bytes would begin
  std::uint16_t width = 0;          // bytes each lane; 0: more than a line
  std::uint8_t begin = 0, end = 0;  // in the line
  bool write : 1 = false;
  bool together : 1 = false;
  bool strong : 1 = false;
  bool async : 1 = false;  // through the async proxy
  std::uint8_t scope : 2 = 0;

  unsigned lane_of(std::uint32_t byte) const {
    return static_cast<unsigned>(static_cast<std::int32_t>(byte) - base) / width;
  }
  // Who touched bytes of [from, to).
  order::Mask lanes_in(std::uint32_t from, std::uint32_t to) const {
    if (together) return lanes;
    const unsigned first = lane_of(from), last = lane_of(to - 1);
    return (~order::Mask{0} >> (31 - last)) & (~order::Mask{0} << first);
  }
  // The bytes from there that have the same actors end there, or later.
  std::uint32_t same_until(std::uint32_t byte) const {
    return together
               ? end
               : static_cast<std::uint32_t>(base + (static_cast<int>(lane_of(byte)) + 1) * width);
  }
  // Each byte of both has the same one actor.
  bool same_actors(const Record& o) const {
    if (row != o.row || together != o.together) return false;
    if (together) return lanes == o.lanes && (lanes & (lanes - 1)) == 0;
    return width == o.width && base == o.base;
  }
  // Both touch the same whole elements, so that strong accesses can be morally strong.
  bool same_elements(const Record& o) const {
    return width == o.width && width != 0 && (base - o.base) % static_cast<int>(width) == 0;
  }
  // Of a range nobody says how wide its elements are: taken as those of the other.
  bool may_be_same_elements(const Record& o) const {
    return width == 0 || o.width == 0 || same_elements(o);
  }
};
static_assert(sizeof(Record) <= 32);

}  // namespace inflight::shadow
