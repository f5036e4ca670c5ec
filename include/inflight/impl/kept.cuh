// A value that stays in a register.
#pragma once
#include <inflight/impl/config.cuh>

namespace inflight::impl {

// The compiler does not work the value out anew where it is used. Of an address in shared memory it
// otherwise does so each time, on sm_90 from a special register that takes long to read.
INFLIGHT_DEVICE std::uint32_t kept(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace inflight::impl
