// software-only
// options: --devices 3
// flags: -lcuda
// cuLaunchCooperativeKernelMultiDevice: one grid on each device, after all earlier work of every
// stream and before all later work.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

// Each grid adds 1 to its device's counter in host memory, then waits for all others.
__global__ void meet(volatile int* arrived, int grids, int* out) {
  if (threadIdx.x == 0) {
    atomicAdd_system((int*)arrived, 1);
    while (*arrived < grids) {
    }
    out[0] += 1;
  }
}
__global__ void add(int* out, int what) { out[0] = out[0] * 10 + what; }

int main() {
  constexpr int devices = 3;
  int* arrived;
  CHECK(cudaHostAlloc(&arrived, sizeof(int), cudaHostAllocPortable));
  int* out[devices];
  cudaStream_t streams[devices];
  CUDA_LAUNCH_PARAMS launches[devices] = {};
  int grids = devices;
  void* arguments[devices][3];
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaMalloc(&out[d], sizeof(int)));
    CHECK(cudaMemset(out[d], 0, sizeof(int)));
    CHECK(cudaStreamCreate(&streams[d]));
    cudaFunction_t function;
    CHECK(cudaGetFuncBySymbol(&function, (const void*)meet));
    arguments[d][0] = &arrived, arguments[d][1] = &grids, arguments[d][2] = &out[d];
    launches[d].function = (CUfunction)function;
    launches[d].gridDimX = launches[d].gridDimY = launches[d].gridDimZ = 1;
    launches[d].blockDimX = 32, launches[d].blockDimY = launches[d].blockDimZ = 1;
    launches[d].hStream = streams[d];
    launches[d].kernelParams = arguments[d];
  }
  const auto launch = [&](int count, unsigned flags) {
    *arrived = 0;
    const CUresult result = cuLaunchCooperativeKernelMultiDevice(launches, count, flags);
    for (cudaStream_t stream : streams) CHECK(cudaStreamSynchronize(stream));
    return int(result);
  };
  for (unsigned flags = 0; flags < 4; ++flags) {
    for (int d = 0; d < devices; ++d) {
      CHECK(cudaSetDevice(d));
      add<<<1, 1, 0, streams[d]>>>(out[d], 3);
    }
    std::printf("flags %u: %d;", flags, launch(devices, flags));
    for (int d = 0; d < devices; ++d) {
      int value = 0;
      CHECK(cudaMemcpy(&value, out[d], sizeof value, cudaMemcpyDefault));
      std::printf(" %d", value);
    }
    std::printf("\n");
  }
  grids = 1;
  std::printf("one: %d\n", launch(1, 0));
  std::printf("none: %d\n", launch(0, 0));
  std::printf("unknown flags: %d\n", launch(1, 4));
  grids = devices;
  launches[2].hStream = streams[1];
  std::printf("one device twice: %d\n", launch(3, 0));
  launches[2].hStream = nullptr;
  std::printf("the default stream: %d\n", launch(3, 0));
  launches[2].hStream = streams[2], launches[2].blockDimX = 64;
  std::printf("another shape: %d\n", launch(3, 0));
  for (auto& each : launches) each.blockDimX = 32, each.gridDimX = 100000;
  std::printf("too large: %d\n", launch(3, 0));
}
