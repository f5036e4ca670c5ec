// flags: -lcuda
// The runtime calls that make no context current, and the used bytes of a pool before its stream
// reaches the free.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

__global__ void wait_for(volatile int* go_on) {
  while (!*go_on) __nanosleep(1000);
}

int main() {
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64));
  CUcontext current = nullptr;
  cuCtxSetCurrent(nullptr);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, memory));
  cuCtxGetCurrent(&current);
  std::printf("cudaPointerGetAttributes: memory of type %d, a context is current: %d\n",
              int(attributes.type), current != nullptr);

  int* go_on = nullptr;
  CHECK(cudaMallocHost(&go_on, sizeof *go_on));
  *go_on = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  wait_for<<<1, 1, 0, stream>>>(go_on);
  unsigned long long used = 0;
  CHECK(cudaMallocAsync(&memory, 1024, stream));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  std::printf("used behind an allocation: %llu\n", used);
  CHECK(cudaFreeAsync(memory, stream));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  std::printf("used behind its free, before the stream comes to it: %llu\n", used);
  *(volatile int*)go_on = 1;
  CHECK(cudaStreamSynchronize(stream));
}
