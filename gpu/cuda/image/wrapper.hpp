// The fatbin wrapper: what nvcc's host code registers, and what points to a program's fatbins.
#pragma once
#include <vector>

namespace inflight::cuda {

// Of a wrapper of version 1: its one fatbin. Of version 2 (separate compilation): each translation
// unit's. Empty where the wrapper is of another version or points nowhere.
std::vector<const void*> fatbins_of(const void* wrapper);

}  // namespace inflight::cuda
