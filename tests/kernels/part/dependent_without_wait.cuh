// A kernel that starts before the previous one has ended, and lacks griddepcontrol.wait.
#include <cstdio>

#include "tests/kernels/kernel_test.cuh"

constexpr int count = 1024, threads = 128;

__global__ void writes(int* data) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  data[blockIdx.x * threads + threadIdx.x] = 1;
}

template <bool waits>
__global__ void reads(const int* data, int* sum) {
  if (waits) asm volatile("griddepcontrol.wait;" ::: "memory");
  atomicAdd(sum, data[blockIdx.x * threads + threadIdx.x]);
}

template <bool waits>
void launch_both(int* data, int* sum, cudaStream_t stream) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = count / threads, config.blockDim = threads, config.stream = stream;
  config.attrs = &early, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, writes, data));
  CHECK(cudaLaunchKernelEx(&config, reads<waits>, (const int*)data, sum));
}

template <bool waits>
void run(const char* what, bool graph) {
  int *data, *sum, result = 0;
  CHECK(cudaMalloc(&data, count * sizeof(int)));
  CHECK(cudaMalloc(&sum, sizeof(int)));
  CHECK(cudaMemset(data, 0, count * sizeof(int)));
  CHECK(cudaMemset(sum, 0, sizeof(int)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  if (graph) {
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch_both<waits>(data, sum, stream);
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    CHECK(cudaGraphLaunch(exec, stream));
  } else {
    launch_both<waits>(data, sum, stream);
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("%s: %s\n", what, result == count ? "all is new" : "some is old");
}

int main() {
  for (int i = 0; i < 3; ++i) {
    run<false>("without wait", false);
    run<true>("with wait", false);
  }
  run<false>("without wait, in a graph", true);
  run<true>("with wait, in a graph", true);
}
