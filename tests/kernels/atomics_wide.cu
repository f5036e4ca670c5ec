// 128-bit exchange and compare-and-swap, atomics on vectors of floats, and red.
#include "tests/kernels/kernel_test.cuh"

using u64 = unsigned long long;

__device__ void swap128(u64* p, u64 lo, u64 hi, u64* old_lo, u64* old_hi) {
  asm volatile(
      "{.reg .b128 o, n; mov.b128 n, {%3, %4}; atom.exch.relaxed.gpu.global.b128 o, [%2], n; "
      "mov.b128 {%0, %1}, o;}"
      : "=l"(*old_lo), "=l"(*old_hi)
      : "l"(p), "l"(lo), "l"(hi)
      : "memory");
}
__device__ bool replace128(u64* p, u64* lo, u64* hi, u64 new_lo, u64 new_hi) {
  u64 was_lo, was_hi;
  asm volatile(
      "{.reg .b128 o, e, n; mov.b128 e, {%3, %4}; mov.b128 n, {%5, %6}; "
      "atom.cas.acq_rel.gpu.global.b128 o, [%2], e, n; mov.b128 {%0, %1}, o;}"
      : "=l"(was_lo), "=l"(was_hi)
      : "l"(p), "l"(*lo), "l"(*hi), "l"(new_lo), "l"(new_hi)
      : "memory");
  bool same = was_lo == *lo && was_hi == *hi;
  *lo = was_lo, *hi = was_hi;
  return same;
}

// Each thread adds to both halves at once. Neither addition may be lost.
__global__ void counters(u64* pair) {
  u64 lo = pair[0], hi = pair[1];
  while (!replace128(pair, &lo, &hi, lo + 1, hi + threadIdx.x)) {
  }
}
// The values that come out of the exchanges, and the final one, are all that went in.
__global__ void exchanges(u64* pair, u64* sums) {
  u64 lo, hi;
  swap128(pair, threadIdx.x + 1, (threadIdx.x + 1) * 1000ull, &lo, &hi);
  atomicAdd(&sums[0], lo);
  atomicAdd(&sums[1], hi);
}
__global__ void finish(const u64* pair, u64* sums) {
  sums[0] += pair[0];
  sums[1] += pair[1];
}

__global__ void reds(int* i, float* f, u64* w) {
  asm volatile("red.global.add.s32 [%0], %1;" ::"l"(i), "r"(3) : "memory");
  asm volatile("red.relaxed.gpu.global.max.s32 [%0], %1;" ::"l"(i + 1), "r"(int(threadIdx.x) * 5)
               : "memory");
  asm volatile("red.global.or.b32 [%0], %1;" ::"l"(i + 2), "r"(1 << threadIdx.x % 32) : "memory");
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(f), "f"(0.5f) : "memory");
  asm volatile("red.global.min.u64 [%0], %1;" ::"l"(w), "l"(1000ull - threadIdx.x) : "memory");
  asm volatile("red.global.inc.u32 [%0], %1;" ::"l"(i + 3), "r"(40) : "memory");
}

int main() {
  Buffer<u64> pair(2), other(2), sums(2), w(std::vector<u64>{~0ull});
  Buffer<int> i(4);
  Buffer<float> f(1);
  counters<<<3, 64>>>(pair);
  exchanges<<<2, 64>>>(other, sums);
  finish<<<1, 1>>>(other, sums);
  reds<<<2, 96>>>(i, f, w);
  print("counters", pair.read());
  print("exchanges", sums.read());
  print("reds", i.read());
  print("float", f.read());
  print("min", w.read());
}
