// software-only
// options: --timeout 0.5
// stderr: kernel endless\(int, float\*\) was stopped after 500 ms
// stderr: at .*timeout_is_prompt.cu:[0-9]+
// --timeout ends a kernel at most a second late, whatever it does, also in long turns.
#include <chrono>
#include <cstdlib>
#include <string>

#include "tests/kernels/kernel_test.cuh"

__device__ volatile int never;
__device__ unsigned counter;
__device__ double kept;

__device__ __noinline__ int twice(int depth) {
  return depth <= 0 ? never : twice(depth - 1) + twice(depth - 1) + 1;
}

__global__ void endless(int kind, float* values) {
  float x = threadIdx.x;
  double y = x;
  switch (kind) {
    case 0:
      while (!never) {
      }
      break;
    case 1:
      while (!never) atomicAdd(&counter, threadIdx.x);
      break;
    case 2:
      while (!never) kept = y = pow(y, 1.7) + atan2(y, double(x)) + log(y + 1);
      break;
    case 3:
      while (!never) free(malloc(16));
      break;
    case 4:
      while (!never) printf("x\n");
      break;
    case 5:
      while (!never) __syncthreads();
      break;
    case 6:
      while (!never) __nanosleep(1000000);
      break;
    case 7:
      never = twice(200);
      break;
    case 8:  // a long body
      while (!never)
#pragma unroll
        for (int i = 0; i < 4096; ++i) values[(i * 17 + threadIdx.x) & 1023] += x;
      break;
  }
}

int run(int kind) {
  Buffer<float> values(1024);
  const auto begin = std::chrono::steady_clock::now();
  endless<<<8, 64>>>(kind, values);
  const cudaError_t error = cudaDeviceSynchronize();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  // Half a second, one more, and one for a busy machine.
  if (took.count() > 2.5) std::fprintf(stderr, "%d took %.1f s\n", kind, took.count());
  return error == cudaErrorLaunchTimeout && took.count() < 2.5 ? 0 : 1;
}

int main(int count, char** arguments) {
  if (count > 1) return run(std::atoi(arguments[1]));
  for (int kind = 0; kind < 9; ++kind) {
    const std::string again = std::string(arguments[0]) + " " + std::to_string(kind) + " >/dev/null";
    std::printf("%d: %s\n", kind, std::system(again.c_str()) == 0 ? "in time" : "late, or not ended");
  }
}
