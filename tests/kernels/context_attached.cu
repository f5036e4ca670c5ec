// flags: -lcuda
// cuCtxAttach and cuCtxDetach, which old programs call: the last detachment destroys the context.
#include <cuda.h>

#include <cstdio>

int main() {
  cuInit(0);
  CUcontext context, attached = nullptr, current = nullptr;
#if CUDA_VERSION >= 13000
  cuCtxCreate(&context, nullptr, 0, 0);
#else
  cuCtxCreate(&context, 0, 0);
#endif
  std::printf("attach: %d\n", cuCtxAttach(&attached, 0));
  std::printf("the same: %d\n", attached == context);
  std::printf("detach: %d\n", cuCtxDetach(context));
  cuCtxGetCurrent(&current);
  std::printf("still current: %d\n", current == context);
  std::printf("detach: %d\n", cuCtxDetach(context));
  cuCtxGetCurrent(&current);
  std::printf("none: %d\n", current == nullptr);
}
