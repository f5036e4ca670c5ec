// CUDA's runtime in kernels, to launch kernels and what belongs to that: the functions of
// libcudadevrt (CUDA Programming Guide, "CUDA Dynamic Parallelism"; CUDA Runtime API).
#pragma once
#include <span>
#include <string_view>

#include "gpu/machine/builtins/builtins.hpp"

namespace inflight::machine {

// The function of this name, or null.
const Builtin* find_device_runtime(std::string_view name);

namespace device_runtime {
// Named without their prefix "__cudaCDP2".
std::span<const Builtin> launches();
std::span<const Builtin> transfers();
// Named in full.
std::span<const Builtin> graphs();
}  // namespace device_runtime

}  // namespace inflight::machine
