// Blocks wait for blocks that cannot start until they exit (marin#8870).
#include "tests/kernels/check/check_test.cuh"

constexpr int big = 200 << 10;  // bytes of shared memory: one block per multiprocessor

__device__ __forceinline__ int look(const int* flag) {
  int seen;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  return seen;
}

// Tile i needs tile i + 1, or i - 1.
__global__ void tiles(int* ready, int step) {
  if (threadIdx.x != 0) return;
  const int other = static_cast<int>(blockIdx.x) + step;
  if (other >= 0 && other < static_cast<int>(gridDim.x)) {
    while (look(ready + other) == 0) {  // [poll]
    }
  }
  asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(ready + blockIdx.x) : "memory");
}

void launch(int step) {
  Buffer<int> ready(400);
  cudaFuncSetAttribute(tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, big);
  tiles<<<400, 32, big>>>(ready, step);
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {{"mistake", [] { launch(1); }}, {"twin", [] { launch(-1); }}});
}
