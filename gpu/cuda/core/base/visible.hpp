// The devices of the machine that a process sees (CUDA guide, "CUDA Environment Variables").
#pragma once
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// The devices in CUDA_VISIBLE_DEVICES (`list`; null: all `count` devices), in its order. Entries
// are indexes, or unambiguous prefixes of UUIDs ("GPU-..."). The list ends before the first entry
// that names no device, or that is not of the first entry's kind. no_device: the list is empty;
// invalid_device: a device is listed twice, or CUDA_DEVICE_ORDER (`order`, null: not set) has an
// unknown value. `uuid(i)` is device i's UUID as nvidia-smi writes it.
tl::expected<std::vector<int>, Status> visible_devices(const char* list, const char* order,
                                                       int count,
                                                       const std::function<std::string(int)>& uuid);

}  // namespace inflight::cuda
