// One block writes data, fences and sets a flag. Another waits for the flag and reads the data.
#include "tests/kernels/kernel_test.cuh"

#include <cuda/atomic>

__device__ int payload[256];
__device__ int flag;

__global__ void fences(int* out) {
  int t = threadIdx.x;
  if (blockIdx.x == 1) {
    payload[t] = t * t + 1;
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(&flag, 1);
  } else {
    if (t == 0)
      while (atomicAdd(&flag, 0) == 0) {
      }
    __syncthreads();
    __threadfence();
    out[t] = *(volatile int*)&payload[255 - t];
  }
}

__global__ void release_acquire(int* out, int* box, int* ready) {
  int t = threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*ready);
  if (blockIdx.x == 0) {
    for (int round = 1; round <= 4; ++round) {
      box[t] = round * 100 + t;
      __syncthreads();
      if (t == 0) {
        f.store(2 * round - 1, cuda::memory_order_release);
        while (f.load(cuda::memory_order_acquire) != 2 * round) {
        }
      }
      __syncthreads();
    }
  } else {
    for (int round = 1; round <= 4; ++round) {
      if (t == 0)
        while (f.load(cuda::memory_order_acquire) != 2 * round - 1) {
        }
      __syncthreads();
      out[(round - 1) * 64 + t] = box[t ^ 5];
      __syncthreads();
      if (t == 0) f.store(2 * round, cuda::memory_order_release);
    }
  }
}

// Every block waits for the next one, so the last must run before the first can end.
__global__ void chain(int* done, int* out) {
  int b = blockIdx.x;
  if (threadIdx.x == 0) {
    if (b + 1 < gridDim.x)
      while (atomicAdd(&done[b + 1], 0) == 0) {
      }
    __threadfence();
    out[b] = b + 1 < gridDim.x ? *(volatile int*)&out[b + 1] + b : 1000;
    __threadfence();
    atomicExch(&done[b], 1);
  }
}

int main() {
  Buffer<int> a(256), b(256), box(64), ready(1), done(16), order(16);
  fences<<<2, 256>>>(a);
  print("fences", a.read());
  release_acquire<<<2, 64>>>(b, box, ready);
  print("release_acquire", b.read());
  chain<<<16, 32>>>(done, order);
  print("chain", order.read());
}
