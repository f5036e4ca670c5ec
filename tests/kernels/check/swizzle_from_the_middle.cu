// Tensor copies whose box begins in the middle of its swizzle's pattern.
// arch: sm_90a
// flags: -lcuda
// options: --strict
#include <cuda.h>

#include "tests/kernels/check/waiting_test.cuh"

constexpr unsigned rows = 8;

// `start`: bytes from a multiple of 1024.
__global__ void load(const __grid_constant__ CUtensorMap map, int* out, unsigned width,
                     unsigned start) {
  __shared__ alignas(1024) char memory[2048];
  __shared__ Word bar;
  const unsigned t = threadIdx.x;
  if (t == 0) init(&bar, 1);
  publish_init();
  if (t == 0) {
    arrive_expect(&bar, rows * width);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%3, %3}], [%2];" ::"r"(shared_address(memory) + start),
        "l"(&map), "r"(shared_address(&bar)), "r"(0)  // [copy]
        : "memory");
  }
  wait_parity(&bar, 0);
  out[t] = reinterpret_cast<const int*>(memory + start)[t];
}

template <CUtensorMapSwizzle swizzle, unsigned width, unsigned start>
void run() {
  const Buffer<int> tensor(rows * width / 4), out(32);
  CUtensorMap map;
  const cuuint64_t dims[] = {width / 4, rows}, strides[] = {width};
  const cuuint32_t box[] = {width / 4, rows}, steps[] = {1, 1};
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, dims, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  load<<<1, 32>>>(map, out, width, start);
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<CU_TENSOR_MAP_SWIZZLE_128B, 128, 512>},
                   {"twin", run<CU_TENSOR_MAP_SWIZZLE_128B, 128, 1024>},
                   {"middle", run<CU_TENSOR_MAP_SWIZZLE_64B, 64, 256>},
                   {"middle_twin", run<CU_TENSOR_MAP_SWIZZLE_64B, 64, 512>},
                   {"narrow", run<CU_TENSOR_MAP_SWIZZLE_32B, 32, 128>},
                   {"narrow_twin", run<CU_TENSOR_MAP_SWIZZLE_32B, 32, 256>},
                   {"plain_twin", run<CU_TENSOR_MAP_SWIZZLE_NONE, 128, 128>}});
}
