// A cuBLAS handle: the settings that a program makes for its calls.
#pragma once
#include <memory>

#include "gpu/blas/abi.hpp"

namespace inflight::blas {

struct Handle {
  void* stream = nullptr;  // cudaStream_t; null: the default stream
  int device = 0;
  PointerMode pointers = PointerMode::host;
  int math_mode = 0, atomics_mode = 0, multiprocessors = 0;
  int emulation_strategy = 0, environment_mode = 0;
};

// Creates a handle on the current device (not_initialized: no device, or a context with an error).
Status create(Handle** place);
Status destroy(Handle* handle);
// Returns the live handle, or null.
std::shared_ptr<Handle> find(const Handle* handle);

}  // namespace inflight::blas
