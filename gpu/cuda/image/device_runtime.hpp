// The functions of NVIDIA's device runtime (cuda_device_runtime_api.h) that the software GPU
// provides: those that get a grid's handle and synchronise the grid. Programs that call them link
// libcudadevrt, which has no usable PTX for them.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "gpu/ptx/module.hpp"

namespace inflight::cuda {

// True if device_runtime() defines the function.
bool is_supplied(std::string_view function);
// True if a module calls one of these functions without defining it.
bool needs_device_runtime(const ptx::Module& module);
// PTX that defines these functions.
std::shared_ptr<const std::string> device_runtime();

}  // namespace inflight::cuda
