// Shared by the programs on tensor copies: a map of bytes, and copies of its box.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

#include "tests/kernels/part/bulk.cuh"

// A map of rows of 16 bytes in `rank` dimensions on `bytes` of memory.
inline CUtensorMap encode_bytes(void* data, cuuint64_t bytes, cuuint32_t rank) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult query;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                   &query);
  CUtensorMap map;
  const cuuint64_t dims[] = {bytes, 1, 1, 1, 1}, strides[] = {4096, 4096, 4096, 4096};
  const cuuint32_t box[] = {64, 1, 1, 1, 1}, steps[] = {1, 1, 1, 1, 1};
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, rank, data, dims, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::printf("encode: %d\n", result);
  return map;
}
__device__ inline void load_row(uint32_t to, const CUtensorMap* map, uint32_t bar) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {0}], [%2];" ::"r"(to),
      "l"(map), "r"(bar)
      : "memory");
}
__device__ inline void store_row(const CUtensorMap* map, uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {0}], [%1];" ::"l"(map),
      "r"(from)
      : "memory");
}
