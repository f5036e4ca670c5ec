// flags: -rdc=true -lcudadevrt
// Errors of CUDA's device runtime: invalid launches, invalid handles, limits.
#include <cstdio>

__global__ void nothing() {}
__global__ void __launch_bounds__(64) small() {}
struct Large {
  char bytes[4096];
};
__global__ void large(Large) {}

__global__ void launches() {
  nothing<<<1, 2048>>>();
  printf("a block of 2048: %d\n", cudaGetLastError());
  nothing<<<1, dim3(1, 1, 65)>>>();
  printf("a block 65 deep: %d\n", cudaGetLastError());
  nothing<<<0, 1>>>();
  printf("no blocks: %d\n", cudaGetLastError());
  nothing<<<1, 0>>>();
  printf("no threads: %d\n", cudaGetLastError());
  nothing<<<dim3(1, 65536), 1>>>();
  printf("a grid too high: %d\n", cudaGetLastError());
  small<<<1, 128>>>();
  printf("past its bounds: %d\n", cudaGetLastError());
  nothing<<<1, 1, 1 << 20>>>();
  printf("too much shared memory: %d\n", cudaGetLastError());
  nothing<<<1, 1, 100 << 10>>>();
  printf("shared memory without opt-in: %d\n", cudaGetLastError());
  large<<<1, 1>>>(Large{});
  printf("4096 bytes of parameters: %d\n", cudaGetLastError());
  printf("and then: %d\n", cudaGetLastError());
}

__global__ void objects() {
  cudaStream_t s = nullptr;
  cudaEvent_t e = nullptr;
  printf("a blocking stream: %d\n", cudaStreamCreateWithFlags(&s, cudaStreamDefault));
  printf("a stream: %d\n", cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  printf("an event with timing: %d\n", cudaEventCreateWithFlags(&e, cudaEventDefault));
  printf("an event: %d\n", cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  printf("recorded: %d\n", cudaEventRecord(e, s));
  printf("waited for: %d\n", cudaStreamWaitEvent(s, e, 0));
  printf("destroyed: %d %d\n", cudaEventDestroy(e), cudaStreamDestroy(s));
  printf("peek, get, get: %d %d %d\n", cudaPeekAtLastError(), cudaGetLastError(), cudaGetLastError());
}

__global__ void names() {
  printf("%s: %s\n", cudaGetErrorName(cudaErrorInvalidConfiguration),
         cudaGetErrorString(cudaErrorInvalidConfiguration));
  printf("%s: %s\n", cudaGetErrorName(cudaSuccess), cudaGetErrorString(cudaSuccess));
  int value = -1, code = cudaGetDevice(&value);
  printf("device: %d %d\n", code, value);
  code = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0);
  printf("warp: %d %d\n", code, value);
  code = cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
  printf("multiprocessors: %d %d\n", code, value);
  size_t limit = 0;
  code = cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
  printf("pending launches: %d %llu\n", code, static_cast<unsigned long long>(limit));
  code = cudaRuntimeGetVersion(&value);
  printf("version: %d %d\n", code, value);
  code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 256, 0);
  printf("blocks: %d %d\n", code, value);
  cudaFuncAttributes a;
  code = cudaFuncGetAttributes(&a, small);
  printf("threads: %d %d\n", code, a.maxThreadsPerBlock);
}

// One thread's errors are its own.
__global__ void errors_of_threads() {
  if (threadIdx.x == 1) nothing<<<1, 2048>>>();
  __syncthreads();
  const int code = cudaGetLastError();
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x == i) printf("thread %d: %d\n", i, code);
    __syncthreads();
  }
}

__global__ void memory() {
  void* p = nullptr;
  const int made = cudaMalloc(&p, 100);
  printf("memory: %d %d\n", made, p != nullptr);
  printf("released: %d\n", cudaFree(p));
}

__device__ int reached, failed;
__global__ void deeper(int depth) {
  reached = depth;
  deeper<<<1, 1>>>(depth + 1);
  failed = cudaGetLastError();
}

__global__ void too_many(int n) {
  int good = 0, first = 0;
  for (int i = 0; i < n; ++i) {
    nothing<<<1, 1, 0, cudaStreamTailLaunch>>>();
    const int code = cudaGetLastError();
    good += code == 0;
    if (code && !first) first = code;
  }
  printf("%d of %d: %d\n", good, n, first);
}

int main() {
  const auto done = [](const char* what) {
    std::printf("%s: %s\n", what, cudaGetErrorName(cudaDeviceSynchronize()));
  };
  launches<<<1, 1>>>();
  done("launches");
  objects<<<1, 1>>>();
  done("objects");
  names<<<1, 1>>>();
  done("names");
  errors_of_threads<<<1, 3>>>();
  done("errors of threads");
  memory<<<1, 1>>>();
  done("memory");
  too_many<<<1, 1>>>(3000);
  done("too many");
  cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096);
  too_many<<<1, 1>>>(3000);
  done("not too many");
  deeper<<<1, 1>>>(1);
  done("deeper");
  int depth = 0, code = 0;
  cudaMemcpyFromSymbol(&depth, reached, sizeof depth);
  cudaMemcpyFromSymbol(&code, failed, sizeof code);
  std::printf("depth %d, then %d\n", depth, code);
}
