// --memory limits the host memory of all devices and pinned memory. Beyond it, calls fail with
// cudaErrorMemoryAllocation and one message. Freed memory can be reused.
// software-only
// flags: -lcuda
// options: --memory 64M --devices 2
// stderr: ^inflight: an allocation of 41943040 bytes fails .*may use 67108864 bytes .* 25165824 of them .*--memory SIZE
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

constexpr std::size_t MiB = 1 << 20;

void say(const char* what, cudaError_t error) {
  std::printf("%s: %d\n", what, int(error));
  cudaGetLastError();
}
void free_of(int device) {
  std::size_t free = 0, total = 0;
  cudaSetDevice(device);
  cudaMemGetInfo(&free, &total);
  std::printf("device %d has %zu MiB free\n", device, free / MiB);
}

int main() {
  void *a = nullptr, *b = nullptr, *c = nullptr;
  free_of(0);
  say("40 MiB", cudaMalloc(&a, 40 * MiB));
  say("40 MiB more", cudaMalloc(&b, 40 * MiB));
  say("40 MiB pinned", cudaMallocHost(&b, 40 * MiB));
  say("40 MiB managed", cudaMallocManaged(&b, 40 * MiB));
  free_of(1);
  say("40 MiB on the other device", cudaMalloc(&b, 40 * MiB));
  CUmemAllocationProp what{};
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle = 0;
  say("40 MiB by cuMemCreate", cudaError_t(cuMemCreate(&handle, 40 * MiB, &what, 0)));
  say("20 MiB by cuMemCreate", cudaError_t(cuMemCreate(&handle, 20 * MiB, &what, 0)));
  free_of(0);
  say("released", cudaError_t(cuMemRelease(handle)));
  say("20 MiB pinned", cudaMallocHost(&c, 20 * MiB));
  free_of(0);
  say("all freed", cudaFreeHost(c));
  say("all freed", cudaFree(a));
  say("60 MiB", cudaMalloc(&a, 60 * MiB));
  free_of(0);
}
