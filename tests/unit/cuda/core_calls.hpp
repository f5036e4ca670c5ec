// A module and pieces of work that tests of the core submit.
#pragma once
#include <cstdint>

#include "gpu/cuda/core/modules/module.hpp"
#include "gpu/cuda/core/work/work.hpp"

namespace inflight::cuda {

// A kernel `k` without parameters, a global variable and a constant one.
inline constexpr const char* module_text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 8 .b8 table[64];
.visible .const .align 4 .b8 limits[16];
.visible .entry k() { ret; }
)";
inline KernelWork kernel_of(LoadedModule& module) {
  KernelWork work;
  work.function = *module.kernel("k", 0);
  return work;
}

inline Work value_work(ValueOperation::Kind kind, std::uint64_t memory, std::uint64_t value) {
  ValueOperation operation;
  operation.kind = kind, operation.memory = memory, operation.value = value;
  return ValueWork{{operation}};
}

}  // namespace inflight::cuda
