// The driver's functions that encode tensor maps, looked up at run time.
#pragma once
#include <cuda_runtime_api.h>

#include <inflight/base/host_device.cuh>

namespace inflight::impl {

// CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col; int stands for their
// enumerations.
using encode_tiled_function = int (*)(void* map, int type, std::uint32_t rank, void* address,
                                      const std::uint64_t* dim, const std::uint64_t* strides,
                                      const std::uint32_t* box,
                                      const std::uint32_t* element_strides, int interleave,
                                      int swizzle, int l2_promotion, int fill);
using encode_im2col_function = int (*)(void* map, int type, std::uint32_t rank, void* address,
                                       const std::uint64_t* dim, const std::uint64_t* strides,
                                       const int* lower_corner, const int* upper_corner,
                                       std::uint32_t channels, std::uint32_t pixels,
                                       const std::uint32_t* element_strides, int interleave,
                                       int swizzle, int l2_promotion, int fill);

// Returns null if the driver lacks the function or there is no driver.
template <class Function>
Function driver_function(const char* name) {
  // The driver encodes for the device of the current context, which must exist. An H200's driver
  // returns 201, invalid context, in a program that has not used the device yet.
  if (cudaFree(nullptr) != cudaSuccess) {
    cudaGetLastError();  // clears the error: the caller reports it
    return nullptr;
  }
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (status == cudaSuccess && found == cudaDriverEntryPointSuccess)
    return reinterpret_cast<Function>(function);
  cudaGetLastError();  // clears the error: the caller reports it
  return nullptr;
}

}  // namespace inflight::impl
