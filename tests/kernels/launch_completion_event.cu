// async: late early shuffled:1
// An event of the attribute LaunchCompletionEvent is recorded once all blocks of its kernel have
// started. The host and work in another stream continue while the kernel still waits for them.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

namespace {

// Block 0 waits until the flag is set. Each block counts itself.
__global__ void wait_for(const volatile int* flag, int* count) {
  if (blockIdx.x == 0)
    while (*flag == 0) {
    }
  atomicAdd(count, 1);
}
__global__ void set(volatile int* flag) { *flag = 1; }

constexpr int blocks = 8;

struct Test {
  cudaStream_t first, second;
  cudaEvent_t begun, ended;
  int *flag, *count;
  Test() {
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&ended, cudaEventDisableTiming));
    CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&count, sizeof(int), cudaHostAllocMapped));
    *flag = *count = 0;
  }
  void launch() {
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeLaunchCompletionEvent;
    a.val.launchCompletionEvent.event = begun;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = 1, config.stream = first;
    config.attrs = &a, config.numAttrs = 1;
    const volatile int* at = flag;
    CHECK(cudaLaunchKernelEx(&config, wait_for, at, count));
    CHECK(cudaEventRecord(ended, first));
  }
  // Before the flag is set, the kernel cannot have ended.
  void report(const char* who) {
    CHECK(cudaStreamSynchronize(first));
    std::printf("%s: %d blocks ran; the event: %s\n", who, *count,
                cudaGetErrorName(cudaEventQuery(begun)));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaEventDestroy(begun));
    CHECK(cudaEventDestroy(ended));
    CHECK(cudaFreeHost(flag));
    CHECK(cudaFreeHost(count));
  }
};

void by_host() {
  Test t;
  t.launch();
  CHECK(cudaEventSynchronize(t.begun));
  std::printf("the kernel has ended: %s\n", cudaGetErrorName(cudaEventQuery(t.ended)));
  *static_cast<volatile int*>(t.flag) = 1;
  t.report("the host");
}

void by_stream() {
  Test t;
  t.launch();
  CHECK(cudaStreamWaitEvent(t.second, t.begun));
  set<<<1, 1, 0, t.second>>>(t.flag);
  CHECK(cudaStreamSynchronize(t.second));
  t.report("a kernel in another stream");
}

void by_driver() {
  Test t;
  CUlaunchAttribute a = {};
  a.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
  a.value.launchCompletionEvent.event = t.begun;
  CUlaunchConfig config = {};
  config.gridDimX = blocks, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = t.first, config.attrs = &a, config.numAttrs = 1;
  void* arguments[] = {&t.flag, &t.count};
  cudaFunction_t function;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(wait_for)));
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &entry, 12000, cudaEnableDefault,
                                         &found));
  using LaunchKernelEx = CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**);
  std::printf("cuLaunchKernelEx: %d\n",
              int(reinterpret_cast<LaunchKernelEx>(entry)(&config, function, arguments, nullptr)));
  CHECK(cudaStreamWaitEvent(t.second, t.begun));
  CHECK(cudaMemsetAsync(t.flag, 1, sizeof(int), t.second));
  t.report("a fill in another stream");
}

}  // namespace

// While a kernel waits, no other kernel may be loaded.
void load() {
  int* flag;
  CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  set<<<1, 1>>>(flag);
  CHECK(cudaMemsetAsync(flag, 1, sizeof(int)));
  wait_for<<<1, 1>>>(flag, flag);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFreeHost(flag));
}

int main() {
  load();
  by_host();
  by_stream();
  by_driver();
}
