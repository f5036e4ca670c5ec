// A cuBLAS handle: what a program has set for the calls that name it.
#pragma once
#include <memory>

#include "gpu/blas/abi.hpp"

namespace inflight::blas {

struct Handle {
  void* stream = nullptr;  // cudaStream_t; null: the default stream
  int device = 0;
  PointerMode pointers = PointerMode::host;
  int math_mode = 0, atomics_mode = 0, multiprocessors = 0;
};

// cublasCreate: a handle of the current device (not_initialized: no device, or a dead context).
Status create(Handle** place);
Status destroy(Handle* handle);
// The live handle, or null.
std::shared_ptr<Handle> find(const Handle* handle);

}  // namespace inflight::blas
