// cuda::atomic_ref in every scope and order with 32 and 64 bits, cuda::atomic with 8 and 16, waits
// and notifications.
#include "tests/kernels/kernel_test.cuh"

#include <cuda/atomic>

template <cuda::thread_scope scope, class T>
__device__ void work(T* data) {
  cuda::atomic_ref<T, scope> a(data[0]), b(data[1]), c(data[2]), d(data[3]);
  a.fetch_add(T(1), cuda::memory_order_relaxed);
  b.fetch_sub(T(2), cuda::memory_order_acq_rel);
  c.fetch_or(T(T(1) << (threadIdx.x % 7)), cuda::memory_order_release);
  d.fetch_max(T(threadIdx.x % 100), cuda::memory_order_seq_cst);
  T expected = a.load(cuda::memory_order_acquire);
  while (!a.compare_exchange_weak(expected, T(expected + 1), cuda::memory_order_acq_rel,
                                  cuda::memory_order_relaxed)) {
  }
}

template <class T>
__global__ void scopes(T* data) {
  work<cuda::thread_scope_system>(data);
  work<cuda::thread_scope_device>(data + 4);
  __shared__ T own[4];
  if (threadIdx.x < 4) own[threadIdx.x] = 0;
  __syncthreads();
  work<cuda::thread_scope_block>(own);
  __syncthreads();
  if (threadIdx.x < 4) data[8 + threadIdx.x] = own[threadIdx.x];
}

// Narrow atomics are built from wider ones.
template <class T>
__global__ void narrow(unsigned* out) {
  __shared__ cuda::atomic<T, cuda::thread_scope_block> v[4];
  if (threadIdx.x < 4) v[threadIdx.x] = T(0);
  __syncthreads();
  v[threadIdx.x % 4].fetch_add(T(threadIdx.x));
  v[1].fetch_xor(T(threadIdx.x * 5));
  __syncthreads();
  if (threadIdx.x < 4) out[threadIdx.x] = unsigned(T(v[threadIdx.x]));
}

__global__ void waiting(int* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    for (int seen = turn.load(); seen != warp; seen = turn.load()) turn.wait(seen);
    out[warp] = warp * 10;
    turn.fetch_add(1);
    turn.notify_all();
  }
}

int main() {
  Buffer<unsigned> a(12), n8(4), n16(4);
  Buffer<unsigned long long> b(12);
  Buffer<int> c(4);
  scopes<unsigned><<<1, 96>>>(a);
  scopes<unsigned long long><<<1, 96>>>(b);
  narrow<unsigned char><<<1, 64>>>(n8);
  narrow<unsigned short><<<1, 64>>>(n16);
  waiting<<<1, 128>>>(c);
  print("unsigned", a.read());
  print("unsigned long long", b.read());
  print("8 bits", n8.read());
  print("16 bits", n16.read());
  print("waiting", c.read());
}
