// Copies a warp's registers, and restores what execution on the copy changed.
#include "gpu/machine/run/observe/on_copy.hpp"

#include <cstring>
#include <utility>

#include "gpu/host/of_this_thread.hpp"

namespace inflight::machine {

OnCopy::Copy& OnCopy::copy_of(const Frame& frame) {
  Copy& copy = host::of_this_thread<Copy>();
  copy.registers.resize(frame.registers.size());
  std::memcpy(copy.registers.data(), frame.registers.data(), frame.registers.size());
  copy.counts.resize(frame.code->count_slots);
  return copy;
}

OnCopy::OnCopy(Warp& w)
    : w_(w),
      copy_(copy_of(*w.frame)),
      counts_(std::exchange(w.frame->counts, copy_.counts.data())),
      carry_(w.carry),
      counted_lanes_(w.counted_lanes),
      variant_(w, copy_.registers.data()) {}

OnCopy::~OnCopy() {
  w_.frame->counts = counts_;
  w_.carry = carry_, w_.counted_lanes = counted_lanes_;
}

}  // namespace inflight::machine
