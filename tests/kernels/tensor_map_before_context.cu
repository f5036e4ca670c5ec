// stderr: cuTensorMapEncodeTiled: .*globalStrides\[0\] = 12
// cuTensorMapEncodeTiled returns 201 before the program has a context, whatever its arguments.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

int main() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  SAY(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                       &found));
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  const auto ask = [&](const char* when, cuuint64_t stride) {
    alignas(64) CUtensorMap map;
    const cuuint64_t extents[] = {64, 64}, strides[] = {stride};
    const cuuint32_t box[] = {32, 32}, steps[] = {1, 1};
    const CUresult code =
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(0x10000), extents,
               strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    std::printf("%s: %d\n", when, static_cast<int>(code));
  };
  ask("at once", 256);
  ask("at once, a stride of 12", 12);
  int device = -1;
  CHECK(cudaGetDevice(&device));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, device));
  ask("after questions about the device", 256);
  CHECK(cudaSetDevice(device));
  ask("after cudaSetDevice", 256);
  ask("after cudaSetDevice, a stride of 12", 12);
}
