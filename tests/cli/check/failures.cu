// Fails as its argument says and returns 0: failures WORD. `probes` only asks what may be refused.
// flags: -lcuda
#include <cuda.h>
#include <unistd.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

__global__ void traps(int* p) {
  if (p[0] == 0) __trap();
}
__global__ void asserts(int* p) { assert(p[0] == 5); }
__device__ int nested(int n) {
  volatile int room[64];
  room[n % 64] = n;
  return n < 0 ? room[0] : nested(n + 1) + room[n % 64];
}
__global__ void overflows(int* p) { p[0] = nested(p[0]); }
__global__ void runs_long(volatile int* p) {
  for (int i = 0; i < 2000000000; ++i) p[0] = i;
}
__global__ void unsupported(int* p) {
  asm volatile("{ .reg .b32 x; activemask.b32 x; st.global.b32 [%0], x; pmevent 7; }" ::"l"(p));
}
__global__ void writes(int* p) { p[threadIdx.x] = 1; }
__global__ void waits_for_ever(volatile int* p) {
  while (*p == 0) {
  }
}
__global__ void past_the_end(int* p) { p[4096] = 1; }

int main(int, char** argv) {
  const std::string word = argv[1];
  int* p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  if (word == "trap") traps<<<1, 1>>>(p);
  if (word == "assert") asserts<<<1, 32>>>(p);
  if (word == "stack") overflows<<<1, 1>>>(p);
  if (word == "timeout") runs_long<<<1, 1>>>(p);
  if (word == "block") writes<<<1, 2048>>>(p);
  if (word == "read") {
    writes<<<1, 2048>>>(p);
    if (cudaGetLastError() == cudaSuccess) return 1;
  }
  if (word == "shared") writes<<<1, 32, 1 << 20>>>(p);
  if (word == "stream") writes<<<1, 32, 0, reinterpret_cast<cudaStream_t>(0x1234)>>>(p);
  if (word == "cooperative") {
    void* arguments[] = {&p};
    cudaLaunchCooperativeKernel(writes, 40000, 32, arguments);
  }
  if (word == "driver") {
    CUfunction function;
    void* arguments[] = {&p};
    cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(writes));
    cuLaunchKernel(function, 1, 1, 1, 5000, 1, 1, 0, nullptr, arguments, nullptr);
  }
  if (word == "map") {
    CUtensorMap map;
    const cuuint64_t sizes[] = {64, 4}, strides[] = {100};
    const cuuint32_t box[] = {32, 4}, steps[] = {1, 1};
    cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, sizes, strides, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
  if (word == "bounds") past_the_end<<<1, 1>>>(p);
  if (word == "after") {  // every later call repeats the error
    traps<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    writes<<<1, 1>>>(p);
    cudaMemset(p, 0, 4);
  }
  if (word == "copy") {
    static char bytes[8192];
    cudaMemcpy(p, bytes, sizeof bytes, cudaMemcpyHostToDevice);
    cudaFree(p);
    cudaFree(p);
  }
  if (word == "probes") {
    int value = 0;
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventRecord(event);
    cudaEventQuery(event);
    cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0);
    cudaDeviceEnablePeerAccess(0, 0);
    cudaSetDevice(77);
    cudaDeviceGetLimit(nullptr, cudaLimitStackSize);
    cudaGetLastError();
    writes<<<1, 32>>>(p);
  }
  if (word == "running") {  // and two more behind it
    writes<<<1, 32>>>(p + 32);
    waits_for_ever<<<1, 32>>>(p);
    cudaMemsetAsync(p, 0, 64);
    writes<<<1, 32>>>(p);
    return 0;
  }
  if (word == "pending") {  // two launches of a graph, behind a function that outlives the process
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    writes<<<1, 32, 0, stream>>>(p);
    writes<<<1, 32, 0, stream>>>(p);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaLaunchHostFunc(
        stream, [](void*) { sleep(9); }, nullptr);
    for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, stream);
    return 0;
  }
  if (word == "crash") *static_cast<volatile int*>(nullptr) = 1;
  if (word == "leave") {
    writes<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    std::fflush(stdout);
    _exit(0);
  }
  cudaDeviceSynchronize();
  std::puts("done");
}
