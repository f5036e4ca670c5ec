// Values of an H200 that programs decide by: properties, limits, occupancy.
#include "tests/kernels/kernel_test.cuh"

__global__ void plain(int* p) { *p = 1; }
__global__ void shared_16k(int* p) {
  __shared__ int s[4096];
  s[threadIdx.x] = *p;
  __syncthreads();
  *p = s[threadIdx.x ^ 1];
}

__global__ void warp_facts(int* out) {
  unsigned lane, warp, smid, warps;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, %%nwarpid;" : "=r"(warps));
  asm("mov.u32 %0, %%smid;" : "=r"(smid));
  unsigned lt, ge;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  out[threadIdx.x] = lane + 100 * (warp < warps) + 1000 * (smid < 132) +
                     10000 * (lt == (1u << lane) - 1) + 100000 * (ge == ~0u << lane) +
                     1000000 * warpSize;
}

int main() {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  std::printf("%s, %d.%d, %d SMs\n", p.name, p.major, p.minor, p.multiProcessorCount);
  std::printf("threads %d a block, %d an SM; shared %zu, opt-in %zu, %zu an SM\n",
              p.maxThreadsPerBlock, p.maxThreadsPerMultiProcessor, p.sharedMemPerBlock,
              p.sharedMemPerBlockOptin, p.sharedMemPerMultiprocessor);
  std::printf("registers %d a block, %d an SM; warp %d; l2 %d\n", p.regsPerBlock,
              p.regsPerMultiprocessor, p.warpSize, p.l2CacheSize);
  std::printf("grid %d %d %d, block %d %d %d\n", p.maxGridSize[0], p.maxGridSize[1],
              p.maxGridSize[2], p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2]);
  for (auto a : {cudaDevAttrCooperativeLaunch, cudaDevAttrManagedMemory,
                 cudaDevAttrConcurrentKernels, cudaDevAttrMemoryPoolsSupported,
                 cudaDevAttrUnifiedAddressing, cudaDevAttrMaxBlocksPerMultiprocessor,
                 cudaDevAttrReservedSharedMemoryPerBlock, cudaDevAttrTotalConstantMemory}) {
    int v = -1;
    CHECK(cudaDeviceGetAttribute(&v, a, 0));
    std::printf("attribute %d: %d\n", int(a), v);
  }
  int count = -1;
  for (int threads : {32, 128, 256, 1024}) {
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, plain, threads, 0));
    int with_shared = -1;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_shared, shared_16k, threads, 20000));
    std::printf("%d threads: %d blocks, %d with shared memory\n", threads, count, with_shared);
  }
  int runtime = 0, driver = 0;
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaDriverGetVersion(&driver));
  std::printf("runtime %d, driver at least that: %d\n", runtime / 1000, driver >= 13000);
  Buffer<int> out(64);
  warp_facts<<<1, 64>>>(out);
  print("warp facts", out.read());
}
