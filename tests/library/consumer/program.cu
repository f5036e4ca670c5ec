// Includes the whole library in the other translation unit, and has main.
#include <cstdio>
#include <inflight/inflight.cuh>

#include "kernels.cuh"

struct twice {
  __device__ int operator()(int x) const { return 2 * x; }
};

int main() {
  static_assert(__cplusplus >= 201703L, "the target asks for C++17");
  int* numbers;
  if (cudaMallocManaged(&numbers, 1000 * sizeof(int)) != cudaSuccess) return 1;
  for (int i = 0; i < 1000; ++i) numbers[i] = i;
  inflight::transform(numbers, numbers, 1000, twice{});
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < 1000; ++i) right = right && numbers[i] == 2 * i;
#if defined(WITH_HOST)
  right = launched_from_cpp() && right;
#endif
  std::puts(right ? "right" : "wrong");
}
