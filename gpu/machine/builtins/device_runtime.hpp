// CUDA's runtime as kernels call it, to launch kernels and what goes with that: the functions that
// libcudadevrt has (CUDA Programming Guide, "CUDA Dynamic Parallelism"; CUDA Runtime API).
#pragma once
#include <span>
#include <string_view>

#include "gpu/machine/builtins/builtins.hpp"

namespace inflight::machine {

// The function of this name, or null.
const Builtin* find_device_runtime(std::string_view name);

namespace device_runtime {
// By what stands behind "__cudaCDP2" in their names.
std::span<const Builtin> launches();
std::span<const Builtin> transfers();
// By their whole names.
std::span<const Builtin> graphs();
}  // namespace device_runtime

}  // namespace inflight::machine
