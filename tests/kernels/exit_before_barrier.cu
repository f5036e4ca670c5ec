// A block's barrier does not wait for threads that have exited.
#include "tests/kernels/kernel_test.cuh"

__global__ void whole_warps_end(int* out) {
  __shared__ int sum;
  int t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  if (t >= 64) return;
  atomicAdd(&sum, t);
  __syncthreads();
  out[t] = sum;
}

__global__ void some_lanes_end(int* out) {
  __shared__ int sum;
  int t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  if (t % 3 == 1) return;
  atomicAdd(&sum, t);
  __syncthreads();
  out[t] = sum;
}

int main() {
  Buffer<int> a(128), b(128);
  whole_warps_end<<<1, 128>>>(a);
  some_lanes_end<<<1, 128>>>(b);
  print("whole_warps_end", a.read());
  print("some_lanes_end", b.read());
}
