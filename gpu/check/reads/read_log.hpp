// Reads of a block's shared memory that the block's machine notes without an event, while whoever
// checks them lets it.
#pragma once
#include <array>
#include <cstdint>

namespace inflight::shadow {

// One read by lanes of a warp, at one instruction.
struct NotedRead {
  NotedRead() {}  // NOLINT: filled in by who notes it
  std::array<std::uint16_t, 32> addresses;
  std::uint32_t lanes;
  std::uint32_t bytes;  // per lane
  std::uint32_t place;  // the instruction's number in its launch, until DeferredReads takes it
  std::uint32_t warp;
  std::uint32_t epoch;  // not set before DeferredReads takes it
};

struct ReadLog {
  NotedRead *next = nullptr, *end = nullptr;  // where to note the next read; equal: nowhere
  bool refused = false;                       // someone needs an event for each read

  bool is_open() const { return next != end; }
  void close() { next = end = nullptr; }
};

}  // namespace inflight::shadow
