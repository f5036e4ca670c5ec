// A copy or a fill by a kernel, and whether a device may do it.
#pragma once
#include <cstdint>

#include "gpu/bytes/range.hpp"
#include "gpu/machine/memory/ranges.hpp"

namespace inflight::machine {

// A copy or a fill of `slices` slices of `rows` rows of `bytes`.
struct Transfer {
  std::uint64_t destination = 0, source = 0;
  std::uint64_t destination_pitch = 0, source_pitch = 0;  // bytes between rows
  std::uint64_t destination_slice = 0, source_slice = 0;  // bytes between slices
  std::uint64_t bytes = 0, rows = 1, slices = 1;
  bool fills = false;  // with `value`
  std::uint8_t value = 0;

  ByteBox written() const { return {bytes, rows, slices, destination_pitch, destination_slice}; }
  ByteBox read() const { return {bytes, rows, slices, source_pitch, source_slice}; }
};

// True if every byte belongs to memory that the device may use now. Ask when the transfer is
// requested, and again when it begins: memory may have been freed in between.
inline bool may_use(const Memory& memory, int device, const Transfer& t) {
  const auto may = [&](const ByteBox& box, std::uint64_t address, bool writing) {
    const auto range = box.at(address);
    return box.empty() || (range && may_use(memory, device, *range, writing));
  };
  return may(t.written(), t.destination, true) && (t.fills || may(t.read(), t.source, false));
}

}  // namespace inflight::machine
