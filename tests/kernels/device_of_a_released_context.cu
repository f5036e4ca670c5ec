// flags: -lcuda
// A primary context that is current but not retained has a device and flags. All other uses
// fail.
#include "tests/kernels/kernel_test.cuh"

#include <cuda.h>

int main() {
  CUcontext context;
  CUdevice device = -1;
  unsigned flags;
  int active;
  cuInit(0);
  std::printf("without a context: %d\n", cuCtxGetDevice(&device));
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  cuDevicePrimaryCtxRelease(0);
  cuDevicePrimaryCtxGetState(0, &flags, &active);
  std::printf("released: active %d\n", active);
  const CUresult result = cuCtxGetDevice(&device);
  std::printf("cuCtxGetDevice: %d, device %d\n", result, device);
  std::printf("cuCtxGetFlags: %d\n", cuCtxGetFlags(&flags));
  std::printf("cuCtxSynchronize: %d\n", cuCtxSynchronize());
  cuDevicePrimaryCtxRetain(&context, 0);
  std::printf("retained again: %d\n", cuCtxSynchronize());
}
