// A value that stays in a register.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::impl {

// Keeps the compiler from recomputing the value at each use. It otherwise does so for an address in
// shared memory, on sm_90 from a special register that takes long to read.
INFLIGHT_DEVICE std::uint32_t keep_in_register(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace inflight::impl
