// Clocks increase, sleeping returns, and the global timer is in nanoseconds.
#include "tests/kernels/kernel_test.cuh"

__global__ void clocks(int* out) {
  long long a = clock64();
  unsigned c = clock();
  unsigned long long g, h;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
  __nanosleep(2000);
  long long b = clock64();
  unsigned d = clock();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(h));
  out[threadIdx.x] = (b > a) + 2 * (d - c > 0) + 4 * (h >= g);
}

__global__ void waits(unsigned long long nanoseconds, int* out) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < nanoseconds);
  *out = 1;
}

int main() {
  Buffer<int> a(32), b(1);
  clocks<<<1, 32>>>(a);
  waits<<<1, 1>>>(200000, b);
  print("clocks", a.read(), 32);
  print("waits", b.read());
}
