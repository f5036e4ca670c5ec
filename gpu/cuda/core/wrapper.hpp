// The fatbin wrapper: what nvcc's host code registers, and what points to a program's fatbins.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/cuda/core/module.hpp"

namespace inflight::cuda {

// Of a wrapper of version 1: its one fatbin. Of version 2 (separate compilation): each translation
// unit's. Empty where the wrapper is of another version or points nowhere.
std::vector<const void*> fatbins_of(const void* wrapper);

// The units of a registered wrapper, pointing into the program's own data. What is damaged becomes
// a unit with an error, told at first use.
std::vector<Unit> registered_units(const void* wrapper);

}  // namespace inflight::cuda
