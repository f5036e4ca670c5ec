// The functions of NVIDIA's device runtime (cuda_device_runtime_api.h) that the software GPU
// provides: those by which kernels get their grid's handle and synchronise it. Programs that call
// them link libcudadevrt, which has no usable PTX for them.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "gpu/ptx/module.hpp"

namespace inflight::cuda {

// Whether the text below defines the function.
bool is_supplied(std::string_view function);
// Whether a module calls one of them, and does not define it.
bool needs_device_runtime(const ptx::Module& module);
// PTX that defines them.
std::shared_ptr<const std::string> device_runtime();

}  // namespace inflight::cuda
