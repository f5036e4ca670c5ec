// Dynamic stack memory: sizes that differ between lanes, in loops, in recursion, next to the frames
// of functions called meanwhile.
#include "tests/kernels/kernel_test.cuh"

// Uses as much of its own frame as the caller may have allocated after its own.
__device__ __noinline__ int scribble(int n) {
  volatile int own[64];
  for (int i = 0; i < 64; ++i) own[i] = -n - i;
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += own[i];
  return sum;
}

__global__ void sizes(int* out, int n) {
  const int count = n + threadIdx.x;
  int* p = static_cast<int*>(alloca(count * sizeof(int)));
  for (int i = 0; i < count; ++i) p[i] = i * i;
  int sum = scribble(count);
  for (int i = 0; i < count; ++i) sum += p[i];
  out[threadIdx.x] = sum;
}

__global__ void several(int* out, int n) {
  int* kept[4];
  for (int r = 0; r < 4; ++r) {
    kept[r] = static_cast<int*>(alloca((n + r) * sizeof(int)));
    for (int i = 0; i < n + r; ++i) kept[r][i] = 100 * r + i;
    if (threadIdx.x % 3 == 0) kept[r][0] += scribble(r) & 1;
  }
  int sum = 0;
  for (int r = 0; r < 4; ++r)
    for (int i = 0; i < n + r; ++i) sum += kept[r][i];
  out[threadIdx.x] = sum;
}

__device__ __noinline__ int deep(int n) {
  if (n <= 0) return 0;
  char* p = static_cast<char*>(alloca(n));
  for (int i = 0; i < n; ++i) p[i] = static_cast<char>(i);
  const int rest = deep(n - 1 - static_cast<int>(threadIdx.x & 1));
  int sum = rest;
  for (int i = 0; i < n; ++i) sum += p[i];
  return sum;
}

__global__ void recursion(int* out, int n) { out[threadIdx.x] = deep(n + threadIdx.x % 5); }

// The code that a compiler of scoped arrays emits: allocate and free in each round of a loop.
__global__ void scoped(int* out, int rounds) {
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    unsigned long long top, p;
    const unsigned long long bytes = 64 + 16 * (threadIdx.x % 4);
    asm volatile("stacksave.u64 %0;" : "=l"(top));
    asm volatile("alloca.u64 %0, %1, 16;" : "=l"(p) : "l"(bytes));
    asm volatile("st.local.u32 [%0], %1;" ::"l"(p + bytes - 4), "r"(r) : "memory");
    int value;
    asm volatile("ld.local.u32 %0, [%1];" : "=r"(value) : "l"(p + bytes - 4) : "memory");
    sum += value + static_cast<int>(p & 15);
    asm volatile("stackrestore.u64 %0;" ::"l"(top));
  }
  out[threadIdx.x] = sum;
}

template <class Kernel>
void show(const char* name, Kernel kernel, int argument) {
  Buffer<int> out(64);
  kernel<<<1, 64>>>(out, argument);
  SAY(cudaDeviceSynchronize());
  out.read();
  std::printf("%s:", name);
  for (int value : out.host) std::printf(" %d", value);
  std::printf("\n");
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10));
  show("sizes", sizes, 10);
  show("several", several, 5);
  show("recursion", recursion, 30);
  show("scoped", scoped, 500);
}
