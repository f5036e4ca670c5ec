// The fatbin wrapper, which nvcc's host code registers and which points to a program's fatbins.
#pragma once
#include <vector>

namespace inflight::cuda {

// The fatbins of a wrapper. Version 1 has one, and version 2 (separate compilation) has one per
// translation unit. Empty if the wrapper has another version or no valid pointer.
std::vector<const void*> fatbins_of(const void* wrapper);

}  // namespace inflight::cuda
