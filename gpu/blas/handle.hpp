// A cuBLAS handle: the settings that a program makes for its calls.
#pragma once
#include <memory>

#include "gpu/blas/abi.hpp"

namespace inflight::blas {

// How products with emulated arithmetic would be computed. Such calls are refused.
struct Emulation {
  int strategy = 0, mantissa_control = 0, most_mantissa_bits = 0, mantissa_bit_offset = 0;
  int special_values = 0xffff;  // a mask
  int* mantissa_bits = nullptr;
};

struct Handle {
  void* stream = nullptr;  // cudaStream_t; null: the default stream
  int device = 0;
  PointerMode pointers = PointerMode::host;
  int math_mode = 0, atomics_mode = 0, multiprocessors = 0;
  int environment_mode = 0;
  Emulation emulation;
};

// Creates a handle on the current device (not_initialized: no device, or a context with an error).
Status create(Handle** place);
Status destroy(Handle* handle);
// Returns the live handle, or null.
std::shared_ptr<Handle> find(const Handle* handle);

// The answer to a call that gets a setting.
template <class T>
Status store(T* place, T value) {
  if (!place) return Status::invalid_value;
  *place = value;
  return Status::success;
}

}  // namespace inflight::blas
