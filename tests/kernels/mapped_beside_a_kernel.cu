// flags: -lcuda
// A pool that a program maps in parts grows while a kernel uses the first parts.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

constexpr std::size_t piece = 2 << 20;
constexpr int pieces = 512, threads = 64;

// Writes to the first part until the host stops it.
__global__ void uses(int* memory, volatile int* stop) {
  int rounds = 0;
  do {
    for (int i = 0; i < 64; ++i) memory[threadIdx.x + i * threads] = threadIdx.x + i + rounds % 2;
    ++rounds;
  } while (*stop == 0);
  memory[threadIdx.x] = threadIdx.x;
}

int map_at(CUdeviceptr at) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle;
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return cuMemCreate(&handle, piece, &properties, 0) || cuMemMap(at, piece, 0, handle, 0) ||
         cuMemRelease(handle) || cuMemSetAccess(at, piece, &access, 1);
}

int main() {
  CHECK(cudaFree(nullptr));
  CUdeviceptr pool = 0;
  int failed = cuMemAddressReserve(&pool, (pieces + 1) * piece, 0, 0, 0);
  const CUdeviceptr first = pool + piece;  // the last one is mapped before it
  failed += map_at(first);
  int *stop, *seen;
  CHECK(cudaHostAlloc(&stop, sizeof(int), cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&seen, stop, 0));
  *stop = 0;
  uses<<<1, threads>>>(reinterpret_cast<int*>(first), seen);
  for (int i = 1; i < pieces; ++i) failed += map_at(first + i * piece);
  failed += map_at(pool);
  *static_cast<volatile int*>(stop) = 1;
  CHECK(cudaDeviceSynchronize());
  int last = 0;
  CHECK(cudaMemcpy(&last, reinterpret_cast<int*>(first) + threads - 1, sizeof(int),
                   cudaMemcpyDeviceToHost));
  std::printf("%d calls failed, %d\n", failed, last);
  failed = cuMemUnmap(pool, (pieces + 1) * piece) + cuMemAddressFree(pool, (pieces + 1) * piece);
  std::printf("%d calls failed\n", failed);
}
