// flags: -lcuda
// cudaMemset of memory that the host can read is complete when it returns, whatever precedes it in
// the stream. The driver knows the extent of such memory.
#include "tests/kernels/kernel_test.cuh"

#include <cuda.h>

__global__ void late(char* bytes, int n) {
  for (int round = 0; round < 2000; ++round)
    for (int i = threadIdx.x; i < n; i += blockDim.x) bytes[i] = char(round);
}

const char* is_set(const char* bytes, int n, char value) {
  for (int i = 0; i < n; ++i) {
    if (bytes[i] != value) return "no";
  }
  return "yes";
}

void range(const char* what, char* memory, int n) {
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  const int status = cuMemGetAddressRange(&base, &bytes, CUdeviceptr(memory + n / 2));
  std::printf("range of %s: %d, its base: %d, its bytes: %d\n", what, status,
              base == CUdeviceptr(memory), bytes == std::size_t(n));
}

int main() {
  const int n = 4096;
  char *pinned = nullptr, *managed = nullptr;
  CHECK(cudaHostAlloc(&pinned, n, cudaHostAllocMapped));
  CHECK(cudaMallocManaged(&managed, n));
  late<<<1, 64>>>(pinned, n);
  CHECK(cudaMemset(pinned, 7, n));
  std::printf("pinned memory is set: %s\n", is_set(pinned, n, 7));
  late<<<1, 64>>>(managed, n);
  CHECK(cudaMemset(managed, 9, n));
  std::printf("managed memory is set: %s\n", is_set(managed, n, 9));
  range("pinned memory", pinned, n);
  range("managed memory", managed, n);
}
