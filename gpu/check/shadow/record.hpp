// One access as shadow memory stores it: a row of actors, each with its bytes of one line.
#pragma once
#include <bit>
#include <cstdint>

#include "gpu/check/order/actor.hpp"
#include "gpu/check/shadow/byte_mask.hpp"

namespace inflight::shadow {

struct Record {
  order::Row row = 0;
  ByteMask bytes;
  order::Epoch epoch = 0;
  order::Mask lanes = 0;  // the actors; some may have no byte here; if `together`, each has all
  // Lanes are 2^gap apart. `base` is the offset in the line at which the bytes of lane origin()
  // would start.
  std::int16_t base = 0;
  std::int8_t stride = 0;        // offset from one such lane to the next; 0 if `together`
  std::uint8_t width = 0;        // bytes per lane; 0: more than a line
  std::uint32_t place : 22 = 0;  // set by the caller: an instruction
  std::uint32_t gap : 2 = 0;
  bool write : 1 = false;
  bool together : 1 = false;
  bool strong : 1 = false;
  bool update : 1 = false;   // a read-modify-write
  bool chained : 1 = false;  // one that has observed the write that is recorded before it
  bool async : 1 = false;    // through the async proxy
  std::uint32_t scope : 2 = 0;

  // The lowest lane that the spacing 2^gap allows.
  unsigned origin() const {
    return static_cast<unsigned>(std::countr_zero(lanes)) & ((1u << gap) - 1);
  }
  // The index of the lane that has this byte, counted from the origin in steps of 2^gap.
  int index_of(std::uint32_t byte) const {
    const int behind = static_cast<int>(byte) - base;
    return stride > 0 ? behind / stride : (-behind - stride - 1) / -static_cast<int>(stride);
  }
  unsigned lane_of(std::uint32_t byte) const {
    return (static_cast<unsigned>(index_of(byte)) << gap) + origin();
  }
  // The actors that accessed this byte of `bytes`.
  order::Mask actors_of(std::uint32_t byte) const {
    return together ? lanes : order::Mask{1} << lane_of(byte);
  }
  // The bytes that have the same actors as this byte.
  ByteMask like(std::uint32_t byte) const {
    if (together) return bytes;
    const int begin = base + index_of(byte) * stride, end = begin + width;
    return ByteMask::range(begin < 0 ? 0 : static_cast<std::uint32_t>(begin),
                           static_cast<std::uint32_t>(end)) &
           bytes;
  }
  // The actors that accessed bytes of `part`.
  order::Mask lanes_in(ByteMask part) const {
    if (together) return lanes;
    if (width == 4 && stride == 4 && gap == 0) {
      const auto first = static_cast<unsigned>((base < 0 ? -base : base) / 4);
      return base < 0 ? static_cast<order::Mask>(part.words() << first)
                      : static_cast<order::Mask>(part.words() >> first);
    }
    order::Mask found = 0;
    for (; part.any(); part = part.without(like(part.first()))) found |= actors_of(part.first());
    return found;
  }
  // Whether each byte in both records has the same single actor.
  bool same_actors(const Record& o) const {
    if (row != o.row || together != o.together) return false;
    if (together) return lanes == o.lanes && (lanes & (lanes - 1)) == 0;
    return width == o.width && base == o.base && stride == o.stride && gap == o.gap &&
           origin() == o.origin();
  }
  // Whether both access the same whole elements, as morally strong accesses must.
  bool same_elements(const Record& o) const {
    return width == o.width && width != 0 && (base - o.base) % static_cast<int>(width) == 0;
  }
  // The element size of a range (width 0) is unknown, and is assumed to match.
  bool may_be_same_elements(const Record& o) const {
    return width == 0 || o.width == 0 || same_elements(o);
  }
};
static_assert(sizeof(Record) <= 48);

}  // namespace inflight::shadow
