// flags: -lcuda
// Calls allowed in a host function of a stream: event queries, but no calls for contexts and
// memory.
#include "tests/kernels/kernel_test.cuh"

#include <cuda.h>

#include <atomic>

CUevent before, after;
std::atomic<bool> recorded{false};  // `after`, too

void CUDA_CB ask(void*) {
  while (!recorded) {
  }
  std::printf("event query %d\n", cuEventQuery(before));
  std::printf("of a later one %d\n", cuEventQuery(after));
  CUcontext context;
  std::printf("ctx get current %d\n", cuCtxGetCurrent(&context));
  CUdeviceptr memory;
  std::printf("mem alloc %d\n", cuMemAlloc(&memory, 16));
  CUdevice device;
  std::printf("ctx get device %d\n", cuCtxGetDevice(&device));
}

int main() {
  CUcontext context;
  CUstream stream;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  cuEventCreate(&before, 0);
  cuEventCreate(&after, 0);
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  cuEventRecord(before, stream);
  cuLaunchHostFunc(stream, ask, nullptr);
  cuEventRecord(after, stream);
  recorded = true;
  std::printf("synchronize %d\n", cuStreamSynchronize(stream));
}
