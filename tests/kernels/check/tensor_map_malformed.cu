// Tensor maps that no copy can use: not encoded, of another rank, or in unreadable memory.
// arch: sm_90a
// flags: -lcuda
#include <cuda.h>

#include "tests/kernels/check/check_test.cuh"

constexpr unsigned rows = 8, columns = 32;

struct Shared {
  alignas(128) int tile[rows * columns];
  alignas(8) std::uint64_t bar;
};

template <int rank>
__device__ void load(const CUtensorMap* map, int* out) {
  __shared__ Shared s;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&s.bar)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&s.bar)),
                 "n"(sizeof s.tile)
                 : "memory");
    if constexpr (rank == 1)
      // clang-format off
      // [load of one]
      asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(shared_address(s.tile)), "l"(map), "r"(shared_address(&s.bar)), "r"(0) : "memory");
    // clang-format on
    else
      // clang-format off
      // [load]
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3}], [%2];" ::"r"(shared_address(s.tile)), "l"(map), "r"(shared_address(&s.bar)), "r"(0) : "memory");
    // clang-format on
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
      "@!p bra again;\n}" ::"r"(shared_address(&s.bar))
      : "memory");
  out[threadIdx.x] = s.tile[threadIdx.x];
}

__global__ void two(const __grid_constant__ CUtensorMap map, int* out) { load<2>(&map, out); }
__global__ void one(const __grid_constant__ CUtensorMap map, int* out) { load<1>(&map, out); }
__global__ void by_value(CUtensorMap map, int* out, int change) {
  if (change) reinterpret_cast<volatile int*>(&map)[change] = change;
  load<2>(&map, out);
}

CUtensorMap encoded() {
  int* tensor = nullptr;
  cudaMalloc(&tensor, rows * columns * sizeof(int));
  cudaMemset(tensor, 0, rows * columns * sizeof(int));
  CUtensorMap map;
  const cuuint64_t dims[] = {columns, rows}, strides[] = {columns * sizeof(int)};
  const cuuint32_t box[] = {columns, rows}, steps[] = {1, 1};
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, dims, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

int* out() {
  int* p = nullptr;
  cudaMalloc(&p, 1024);
  return p;
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"never_encoded",
                    [] {
                      CUtensorMap map{};
                      two<<<1, 32>>>(map, out());
                    }},
                   {"other_rank", [] { one<<<1, 32>>>(encoded(), out()); }},
                   {"in_local_memory", [] { by_value<<<1, 32>>>(encoded(), out(), 0); }},
                   {"twin", [] { two<<<1, 32>>>(encoded(), out()); }}});
}
