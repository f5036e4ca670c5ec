// flags: -lcuda
// References to a primary context: the runtime's from its first call on, and every retain.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

void state(const char* when) {
  unsigned flags = 0;
  int active = -1;
  cuDevicePrimaryCtxGetState(0, &flags, &active);
  std::printf("%s: active %d\n", when, active);
}
#define TELL(call) std::printf("%s: %d\n", #call, int(call))

int main() {
  cuInit(0);
  state("at first");
  cudaStream_t stream;
  CUcontext context = nullptr, current = nullptr;
  SAY(cudaStreamCreate(&stream));
  SAY(cudaStreamDestroy(stream));
  state("used by the runtime");
  TELL(cuDevicePrimaryCtxRetain(&context, 0));
  TELL(cuCtxGetCurrent(&current));
  std::printf("the current one: %d\n", context == current);
  TELL(cuDevicePrimaryCtxRelease(0));
  TELL(cuDevicePrimaryCtxRelease(0));
  state("released twice");
  TELL(cuDevicePrimaryCtxRelease(0));
  TELL(cuCtxSynchronize());
  SAY(cudaStreamCreate(&stream));
  state("used again");
  TELL(cuCtxSynchronize());
  TELL(cuDevicePrimaryCtxReset(0));
  state("reset");
  SAY(cudaFree(nullptr));
  state("used again");
  SAY(cudaDeviceReset());
  state("reset by the runtime");
}
