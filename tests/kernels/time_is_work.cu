// Waits for the clock take no host time: warps and blocks in turn, with clock, the global timer,
// sleep, and a time limit on a flag that never comes. Measured times are those of work.
#include <chrono>

#include "tests/kernels/kernel_test.cuh"

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin(long long clocks, int* out) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = clock64() - begin >= clocks;
}

__global__ void spin_short(unsigned clocks, int* out) {
  const unsigned begin = clock();
  while (clock() - begin < clocks) {
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void by_timer(unsigned long long wait, int* out) {
  const unsigned long long begin = nanoseconds();
  while (nanoseconds() - begin < wait) __nanosleep(1000);
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void asleep(int* out) {
  const unsigned long long begin = nanoseconds();
  for (int i = 0; i < 1000; ++i) __nanosleep(1000000);
  out[threadIdx.x] = nanoseconds() - begin > 100000000;
}

// One warp wakes another after a while: the clock of a warp that polls memory does not run ahead.
__global__ void woken(volatile int* flag, int* out) {
  __shared__ unsigned long long begin;
  if (threadIdx.x == 0) begin = nanoseconds();
  __syncthreads();
  if (threadIdx.x == 0) {
    while (nanoseconds() - begin < 2000000) {
    }
    *flag = 1;
  }
  if (threadIdx.x == 32) {
    while (*flag == 0) {
    }
    out[0] = nanoseconds() - begin >= 2000000;
  }
}

// The flag never comes: the program gives up after 20 ms.
__global__ void gives_up(volatile int* flag, int* out) {
  const unsigned long long begin = nanoseconds();
  while (*flag == 0 && nanoseconds() - begin < 20000000) {
  }
  out[0] = *flag;
}

__global__ void measure(int turns, float x, long long* took, float* out) {
  const long long begin = clock64();
  for (int i = 0; i < turns; ++i) x = x * 1.5f + 1;
  took[threadIdx.x] = clock64() - begin;
  out[threadIdx.x] = x;
}

__global__ void tell(long long* now) { *now = clock64(); }

int sum(Buffer<int>& values) {
  int total = 0;
  for (int v : values.read()) total += v;
  return total;
}

int main() {
  const auto begin = std::chrono::steady_clock::now();
  {
    Buffer<int> out(64 * 256);
    spin<<<64, 256>>>(200000000, out);
    std::printf("spun %d\n", sum(out));
    spin_short<<<64, 256>>>(2000000000u, out);
    std::printf("spun by 32 bits %d\n", sum(out));
  }
  {
    Buffer<int> out(16 * 64), one(64), flag(1);
    by_timer<<<16, 64>>>(500000000, out);
    std::printf("by the timer %d\n", sum(out));
    asleep<<<1, 64>>>(one);
    std::printf("asleep %d\n", sum(one));
    woken<<<1, 64>>>(flag, one);
    std::printf("woken %d\n", one.read()[0]);
    CHECK(cudaMemset(flag, 0, sizeof(int)));
    gives_up<<<1, 1>>>(flag, one);
    std::printf("gave up with %d\n", one.read()[0]);
  }
  {
    Buffer<long long> few(32), many(32), now(1);
    Buffer<float> out(32);
    measure<<<1, 32>>>(10, 1, few, out);
    measure<<<1, 32>>>(10000, 1, many, out);
    const long long f = few.read()[0], m = many.read()[0];
    std::printf("more work takes longer: %d\n", f > 0 && m > 100 * f / 10);
    tell<<<1, 1>>>(now);
    const long long first = now.read()[0];
    tell<<<1, 1>>>(now);
    std::printf("the next launch is later: %d\n", now.read()[0] > first);
  }
  // A GPU takes about two seconds, the sum of these waits.
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%s\n", took.count() < 20 ? "soon" : "late");
}
