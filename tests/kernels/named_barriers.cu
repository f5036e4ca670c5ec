// Named barriers in all forms: sync, arrive, reductions, and counts below the block's size.
#include "tests/kernels/kernel_test.cuh"

__device__ void bar_sync(int id, int count) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}
__device__ void bar_arrive(int id, int count) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(id), "r"(count) : "memory");
}

// Two producer warps arrive, two consumer warps wait: 128 threads on barriers 1 and 2 in turn.
__global__ void produce_consume(int* out) {
  __shared__ int buffer[64];
  int t = threadIdx.x;
  for (int round = 0; round < 5; ++round) {
    if (t < 64) {
      if (round) bar_sync(2, 128);
      buffer[t] = round * 1000 + t;
      __threadfence_block();
      bar_arrive(1, 128);
    } else {
      bar_sync(1, 128);
      out[(t - 64) + 64 * round] = buffer[(t - 64) ^ 33];
      if (round < 4) bar_arrive(2, 128);
    }
  }
}

// Disjoint groups of two warps each use their own barrier.
__global__ void groups(int* out) {
  __shared__ int slot[256];
  int t = threadIdx.x, group = t / 64;
  int v = t;
  for (int i = 0; i < 4; ++i) {
    slot[t] = v;
    bar_sync(group + 1, 64);
    v = slot[group * 64 + (t * 5 + 3) % 64] + group;
    bar_sync(group + 1, 64);
  }
  out[t] = v;
}

__global__ void reductions(int* out) {
  int t = threadIdx.x;
  int count = __syncthreads_count(t % 3 == 0);
  int all = __syncthreads_and(t < 200), any = __syncthreads_or(t == 77);
  int none = __syncthreads_or(t > 500), every = __syncthreads_and(t >= 0);
  int part = -1;
  if (t < 96)
    asm volatile("{.reg .pred p; setp.lt.s32 p, %1, 40; barrier.cta.red.popc.u32 %0, 5, 96, p;}"
                 : "=r"(part)
                 : "r"(t)
                 : "memory");
  int both = -1;
  if (t >= 96)
    asm volatile(
        "{.reg .pred p, q; setp.gt.s32 p, %1, 90; barrier.cta.red.and.pred q, 6, 160, p; selp.s32 "
        "%0, 1, 0, q;}"
        : "=r"(both)
        : "r"(t)
        : "memory");
  out[t] = count + 1000 * (all + 2 * any + 4 * none + 8 * every) + 100000 * part + 100000000 * both;
}

int main() {
  Buffer<int> a(320), b(256), c(256);
  produce_consume<<<1, 128>>>(a);
  groups<<<1, 256>>>(b);
  reductions<<<1, 256>>>(c);
  print("produce_consume", a.read());
  print("groups", b.read());
  print("reductions", c.read());
}
