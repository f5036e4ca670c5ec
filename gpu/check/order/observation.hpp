// Writes that a thread has observed. It may not know what their threads did before them.
#pragma once
#include <vector>

#include "gpu/check/order/actor.hpp"

namespace inflight::order {

// A write that some lanes of a warp have read by a morally strong load.
struct Observation {
  Mask readers = 0;
  // The write's actor.
  Row row = 0;
  unsigned lane = 0;
  Epoch epoch = 0;
  // An actor that performs only this thread's strong writes to this location.
  Row location_row = 0;
  unsigned location_lane = 0;
};
using Observations = std::vector<Observation>;

// That actor's row and lane. They lie in the rows of the thread's launch, behind those of all
// blocks. Two actors may have one number, which can hide a conflict but never report a false one.
struct LocationActor {
  Row row;
  unsigned lane;
  LocationActor(Row of, unsigned of_lane, std::uint64_t location) {
    std::uint64_t h = (of << 5 | of_lane) * 0x9e3779b97f4a7c15u ^ location;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    constexpr Row behind = Row{1} << (launch_shift - 1);
    row = launch_of(of) << launch_shift | behind | (h >> 5 & (behind - 1));
    lane = static_cast<unsigned>(h % lanes);
  }
};

}  // namespace inflight::order
