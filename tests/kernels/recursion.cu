// Recursion of different depths in the lanes of a warp, mutual recursion, and frames in local
// memory.
#include "tests/kernels/kernel_test.cuh"

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }

__device__ __noinline__ void sort(int* v, int n) {
  if (n < 2) return;
  int pivot = v[n / 2], i = 0, j = n - 1;
  while (i <= j) {
    while (v[i] < pivot) ++i;
    while (v[j] > pivot) --j;
    if (i <= j) {
      int t = v[i];
      v[i++] = v[j];
      v[j--] = t;
    }
  }
  sort(v, j + 1);
  sort(v + i, n - i);
}

__device__ __noinline__ int frames(int depth, const int* above) {
  int own[8];
  for (int i = 0; i < 8; ++i) own[i] = above[7 - i] + depth * i;
  return depth == 0 ? own[threadIdx.x % 8] : frames(depth - 1, own) + own[depth % 8];
}

__global__ void run(int* out) {
  int t = threadIdx.x;
  out[t] = fibonacci(t % 12);
  out[64 + t] = ackermann(t % 3, t % 4);
  out[128 + t] = even(t) * 10 + odd(t / 2);
  int seed[8] = {t, 1, 2, 3, 4, 5, 6, 7};
  out[192 + t] = frames(t % 9, seed);
}

__global__ void sorts(int* out) {
  int v[24];
  unsigned state = threadIdx.x * 2654435761u + 1;
  for (int& x : v) x = (state = state * 1664525u + 1013904223u) >> 20;
  sort(v, 24);
  for (int i = 0; i < 24; ++i) out[threadIdx.x * 24 + i] = v[i];
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
  Buffer<int> a(256), b(32 * 24);
  run<<<1, 64>>>(a);
  sorts<<<1, 32>>>(b);
  print("run", a.read(), 32);
  print("sorts", b.read(), 24);
}
