// Which of the machine's devices a process sees (CUDA guide, "CUDA Environment Variables":
// CUDA_VISIBLE_DEVICES).
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace inflight::cuda {

// The devices of the list, in its order, of `count` that there are: by index, or by the first
// digits of a UUID ("GPU-..."), enough of them to name one. The list ends before the first entry
// that names none; `uuid(i)` is a device's as nvidia-smi writes it. No list: all.
std::vector<int> visible_devices(const char* list, int count,
                                 const std::function<std::string(int)>& uuid);

}  // namespace inflight::cuda
