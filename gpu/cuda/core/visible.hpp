// Which of the machine's devices a process sees (CUDA guide, "CUDA Environment Variables").
#pragma once
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// The devices of CUDA_VISIBLE_DEVICES (`list`; null: all of the `count` that there are), in its
// order: by index, or by the first digits of a UUID ("GPU-..."), enough of them to name one. The
// list ends before the first entry that names none, or names it otherwise than the first entry
// does. no_device: none is left; invalid_device: one stands there twice, or CUDA_DEVICE_ORDER
// (`order`, null: not set) is not one of its values. `uuid(i)` is a device's as nvidia-smi writes
// it.
tl::expected<std::vector<int>, Status> visible_devices(const char* list, const char* order,
                                                       int count,
                                                       const std::function<std::string(int)>& uuid);

}  // namespace inflight::cuda
