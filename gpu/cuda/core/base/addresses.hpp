// Conversions between pointers and addresses, and rounding of sizes.
#pragma once
#include <cstdint>

namespace inflight::cuda {

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}
inline void* pointer_to(std::uint64_t address) { return reinterpret_cast<void*>(address); }

// The next multiple of `step`.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace inflight::cuda
