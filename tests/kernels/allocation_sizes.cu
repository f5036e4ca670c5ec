// Sizes that exceed every GPU give out-of-memory errors. Products of sizes that overflow every
// integer give these or invalid-value errors.
// flags: -lcuda
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

constexpr std::size_t most = ~std::size_t{0}, half = std::size_t{1} << 63, big = std::size_t{1} << 33;

void say(const char* what, cudaError_t error) {
  std::printf("%s: %d\n", what, int(error));
  cudaGetLastError();
}

int main() {
  void* p = nullptr;
  std::size_t pitch = 0;
  for (std::size_t size : {std::size_t{1} << 40, std::size_t{1} << 62, half, most}) {
    say("cudaMalloc", cudaMalloc(&p, size));
    say("cudaMallocHost", cudaMallocHost(&p, size));
    say("cudaMallocAsync", cudaMallocAsync(&p, size, 0));
  }
  say("cudaMallocPitch of 2^64-1 bytes", cudaMallocPitch(&p, &pitch, most, 1));
  say("cudaMallocPitch of 2^64-1 rows", cudaMallocPitch(&p, &pitch, 64, most));
  say("cudaMallocPitch of 2^33 x 2^33", cudaMallocPitch(&p, &pitch, big, big));
  say("cudaMallocPitch of 2^55 rows of 512", cudaMallocPitch(&p, &pitch, 512, std::size_t{1} << 55));
  say("cuMemAllocPitch of 2^32 x 2^32",
      cudaError_t(cuMemAllocPitch(reinterpret_cast<CUdeviceptr*>(&p), &pitch, std::size_t{1} << 32,
                                  std::size_t{1} << 32, 4)));
  cudaPitchedPtr box{};
  say("cudaMalloc3D of 512 x 2 x 2^54",
      cudaMalloc3D(&box, make_cudaExtent(512, 2, std::size_t{1} << 54)));
  say("afterwards, 64 x 64 x 64", cudaMalloc3D(&box, make_cudaExtent(64, 64, 64)));
  std::printf("pitch %zu\n", box.pitch);
}
