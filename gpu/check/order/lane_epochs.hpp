// The epochs of one row's actors, and the join of two rows.
#pragma once
#include <array>

#include "gpu/check/order/actor.hpp"

namespace inflight::order {

using LaneEpochs = std::array<Epoch, lanes>;

struct LaneJoin {
  bool is_a = false, is_b = false;  // the result is equal to this one of the two
  Epoch least = 0;                  // of the result
};
// Sets `both` to the later epochs.
LaneJoin join_lanes(const LaneEpochs& a, const LaneEpochs& b, LaneEpochs& both);
// Raises those of the mask to `epoch`, where they are earlier.
void raise_lanes(LaneEpochs& of, Mask mask, Epoch epoch);
// Those that are at `epoch` or later.
Mask lanes_from(const LaneEpochs& of, Epoch epoch);

}  // namespace inflight::order
