// alone: its global objects have destructors, which would run at the end of other programs too
// CUDA calls from atexit functions and from destructors of static objects, in the process's order:
// functions registered after the first CUDA call still work, and a global object's destructor runs
// too late.
// flags: -lcuda
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void twice(int* p) { *p *= 2; }

struct Global {
  int* p = nullptr;
  ~Global() {
    std::printf("global object's destructor: cudaFree %d", cudaFree(p));
    std::printf(", cuMemFree %d\n", cuMemFree(CUdeviceptr(p)));
    std::fflush(stdout);
  }
} global;

struct Pool {
  int* p = nullptr;
  cudaStream_t stream = nullptr;
  Pool() {
    cudaMalloc(&p, 64);
    cudaStreamCreate(&stream);
  }
  ~Pool() {
    int value = 21;
    cudaMemcpyAsync(p, &value, 4, cudaMemcpyHostToDevice, stream);
    twice<<<1, 1, 0, stream>>>(p);
    cudaMemcpyAsync(&value, p, 4, cudaMemcpyDeviceToHost, stream);
    const int waited = cudaStreamSynchronize(stream);
    std::printf("destructor of a function's static object: value %d, waited %d, ", value, waited);
    std::printf("cudaStreamDestroy %d, ", cudaStreamDestroy(stream));
    std::printf("cudaFree %d\n", cudaFree(p));
    std::fflush(stdout);
  }
};
Pool& pool() {
  static Pool instance;
  return instance;
}

void at_exit() {
  int *p = nullptr, value = 4;
  const int made = cudaMalloc(&p, 64);
  cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice);
  twice<<<1, 1>>>(p);
  twice<<<1, 1, 0, cudaStreamPerThread>>>(p);
  const int waited = cudaDeviceSynchronize();
  cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost);
  int device = -1;
  cudaGetDevice(&device);
  std::printf("atexit: cudaMalloc %d, waited %d, value %d, device %d, ", made, waited, value, device);
  std::printf("cudaFree %d, cudaGetLastError %d\n", cudaFree(p), cudaGetLastError());
  std::fflush(stdout);
}

int main() {
  cudaMalloc(&global.p, 64);
  pool();
  std::atexit(at_exit);
  std::printf("main ends: %d\n", cudaDeviceSynchronize());
}
