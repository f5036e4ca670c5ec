// Streams run in order, wait for events of others, call host functions, and report whether they are
// done.
#include "tests/kernels/kernel_test.cuh"

#include <atomic>

__global__ void step(int* v, int mul, int add) { v[threadIdx.x] = v[threadIdx.x] * mul + add; }

std::atomic<int> calls{0};
void CUDART_CB on_host(void* value) { calls = calls * 10 + *static_cast<int*>(value); }
void CUDART_CB callback(cudaStream_t, cudaError_t status, void* value) {
  calls = calls * 10 + *static_cast<int*>(value) + (status == cudaSuccess ? 0 : 5);
}

int main() {
  Buffer<int> v(32), w(32);
  cudaStream_t a, b, c;
  cudaEvent_t first, second, start, stop;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithPriority(&c, cudaStreamNonBlocking, -1));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&second, cudaEventDisableTiming));

  SAY(cudaEventQuery(first));
  CHECK(cudaEventRecord(start, a));
  step<<<1, 32, 0, a>>>(v, 1, 1);
  CHECK(cudaEventRecord(first, a));
  CHECK(cudaStreamWaitEvent(b, first, 0));
  step<<<1, 32, 0, b>>>(v, 10, 2);
  CHECK(cudaEventRecord(second, b));
  CHECK(cudaStreamWaitEvent(c, second, 0));
  step<<<1, 32, 0, c>>>(v, 10, 3);
  int values[3] = {1, 2, 3};
  CHECK(cudaLaunchHostFunc(c, on_host, &values[0]));
  CHECK(cudaMemcpyAsync(w, v, 32 * sizeof(int), cudaMemcpyDeviceToDevice, c));
  CHECK(cudaStreamAddCallback(c, callback, &values[1], 0));
  CHECK(cudaMemsetAsync(v, 0, 16 * sizeof(int), c));
  CHECK(cudaLaunchHostFunc(c, on_host, &values[2]));
  CHECK(cudaStreamSynchronize(c));
  std::printf("host functions: %d\n", calls.load());
  SAY(cudaStreamQuery(c));
  SAY(cudaEventQuery(second));
  CHECK(cudaEventRecord(stop, a));
  CHECK(cudaEventSynchronize(stop));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  std::printf("time passed: %s\n", ms >= 0 ? "yes" : "no");
  SAY(cudaEventElapsedTime(&ms, first, second));
  SAY(cudaGetLastError());
  print("v", v.read());
  print("w", w.read());

  // The default stream waits for blocking streams.
  for (int i = 0; i < 20; ++i) step<<<1, 32, 0, a>>>(w, 1, 1);
  step<<<1, 32>>>(w, 2, 0);
  for (int i = 0; i < 3; ++i) step<<<1, 32, 0, a>>>(w, 1, 1);
  print("w", w.read());
  int low = 9, high = 9, priority = 9;
  unsigned flags = 9;
  CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
  CHECK(cudaStreamGetPriority(c, &priority));
  CHECK(cudaStreamGetFlags(b, &flags));
  std::printf("priorities %d to %d, of c %d, flags of b %u\n", low, high, priority, flags);
  CHECK(cudaStreamDestroy(a));
  CHECK(cudaStreamDestroy(b));
  CHECK(cudaStreamDestroy(c));
  CHECK(cudaEventDestroy(first));
  CHECK(cudaGetLastError());
}
