// Reductions of 32-bit integers over the lanes of a warp, in one instruction: PTX ISA,
// "redux.sync".
//
// `mask` names the lanes that take part, a bit each; each of them executes the instruction with the
// same mask, and each gets the result. By the compiler's own names, so that it knows that the lanes
// meet there.
#pragma once
#include <inflight/impl/config.cuh>

namespace inflight::ptx {

// The sum, modulo 2^32.
INFLIGHT_DEVICE std::uint32_t redux_add(std::uint32_t mask, std::uint32_t value) {
  return __reduce_add_sync(mask, value);
}
// The least, the greatest, as unsigned and as signed numbers.
INFLIGHT_DEVICE std::uint32_t redux_min(std::uint32_t mask, std::uint32_t value) {
  return __reduce_min_sync(mask, value);
}
INFLIGHT_DEVICE std::int32_t redux_min(std::uint32_t mask, std::int32_t value) {
  return __reduce_min_sync(mask, value);
}
INFLIGHT_DEVICE std::uint32_t redux_max(std::uint32_t mask, std::uint32_t value) {
  return __reduce_max_sync(mask, value);
}
INFLIGHT_DEVICE std::int32_t redux_max(std::uint32_t mask, std::int32_t value) {
  return __reduce_max_sync(mask, value);
}
// Bit by bit.
INFLIGHT_DEVICE std::uint32_t redux_and(std::uint32_t mask, std::uint32_t value) {
  return __reduce_and_sync(mask, value);
}
INFLIGHT_DEVICE std::uint32_t redux_or(std::uint32_t mask, std::uint32_t value) {
  return __reduce_or_sync(mask, value);
}
INFLIGHT_DEVICE std::uint32_t redux_xor(std::uint32_t mask, std::uint32_t value) {
  return __reduce_xor_sync(mask, value);
}

}  // namespace inflight::ptx
