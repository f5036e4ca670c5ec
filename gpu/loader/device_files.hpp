// The files by which NVIDIA's driver shows that there are GPUs. Some programs look for /dev/nvidia0
// before they make any call of CUDA (JAX).
#pragma once
#include <link.h>

#include <string_view>

namespace inflight::loader {

// True for /dev/nvidiactl, and for /dev/nvidia0 and so on up to the last of `devices` GPUs.
bool is_device_file(std::string_view path, unsigned devices);

// Reads the number of software GPUs from the initial environment of the process.
void keep_device_count(const char* const* environment);
// From now on, the C library's stat() and access() find these files. Call it when the C library has
// been mapped, before any of its code runs.
void show_device_files(const link_map& c_library);

}  // namespace inflight::loader
