// flags: -rdc=true -lcudadevrt
// async: late early shuffled:1 shuffled:2
// Kernels that launch kernels: a grid's streams order its launches, its end waits for all of them,
// and a tail launch sees all that they have written.
#include <cstdio>
#include <cstring>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    if (cudaError_t e = call; e != cudaSuccess) {                                       \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(e));                      \
      return 1;                                                                         \
    }                                                                                   \
  } while (0)

__device__ unsigned count;
__device__ unsigned order[64];

__global__ void note(unsigned what) { order[atomicAdd(&count, 1)] = what; }

// --- a tree: each thread launches two grids below it
__global__ void node(unsigned* sums, unsigned depth, unsigned path) {
  atomicAdd(&sums[depth], path);
  if (depth == 5) return;
  node<<<1, 1>>>(sums, depth + 1, 2 * path);
  node<<<1, 1>>>(sums, depth + 1, 2 * path + 1);
}

// --- the null stream of a block
__global__ void in_order() {
  for (unsigned i = 0; i < 8; ++i) note<<<1, 1>>>(i);
}

// Launches of two threads of a block are in one stream.
__global__ void in_order_of_block() {
  if (threadIdx.x == 0) note<<<1, 1>>>(100);
  __syncthreads();
  if (threadIdx.x == 33) note<<<1, 1>>>(200);
}

// --- streams and events
__global__ void add(unsigned* x, unsigned n) { *x += n; }
__global__ void times(unsigned* x, const unsigned* y) { *x *= *y; }

__global__ void two_streams(unsigned* x) {
  cudaStream_t a, b;
  cudaEvent_t done;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  add<<<1, 1, 0, a>>>(&x[0], 3);
  add<<<1, 1, 0, a>>>(&x[0], 4);
  cudaEventRecord(done, a);
  add<<<1, 1, 0, b>>>(&x[1], 5);
  cudaStreamWaitEvent(b, done, 0);
  times<<<1, 1, 0, b>>>(&x[1], &x[0]);
  cudaEventDestroy(done);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}

// --- tail launches
__global__ void sum_up(unsigned* to, const unsigned* from, unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += from[i];
  *to = sum;
}
__global__ void fill(unsigned* to, unsigned value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void then(unsigned* x) {
  if (threadIdx.x == 0) sum_up<<<1, 1, 0, cudaStreamTailLaunch>>>(x, x + 1, 128);
  if (threadIdx.x == 1) fill<<<2, 32>>>(x + 1, 3);
  if (threadIdx.x == 2) fill<<<1, 32, 0, cudaStreamFireAndForget>>>(x + 65, 5);
  if (threadIdx.x >= 32) x[65 + threadIdx.x] = 7;
}

// Tail launches of a tail launch run before the grid's next tail launch.
__global__ void after_first() {
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(11);
  note<<<1, 1>>>(10);
}
__global__ void after() {
  after_first<<<1, 1, 0, cudaStreamTailLaunch>>>();
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(12);
  note<<<1, 1>>>(9);
}

// A loop: a kernel that launches itself.
__global__ void countdown(unsigned n) {
  note<<<1, 1>>>(n);
  if (n > 0) countdown<<<1, 1, 0, cudaStreamTailLaunch>>>(n - 1);
}
__global__ void long_countdown(unsigned n, unsigned* x) {
  ++*x;
  if (n > 0) long_countdown<<<1, 1, 0, cudaStreamTailLaunch>>>(n - 1, x);
}

// --- parameters of every size, shared memory, grids of several dimensions
struct Large {
  char first;
  double values[400];
  short last;
};
__global__ void takes(char a, short b, double c, Large d, unsigned char e, double* out) {
  extern __shared__ double shared[];
  shared[threadIdx.x] = d.values[threadIdx.x] + a;
  __syncthreads();
  if (threadIdx.x == 0) {
    double sum = c + b + e + d.first + d.last;
    for (unsigned i = 0; i < blockDim.x; ++i) sum += shared[i];
    atomicAdd(&out[blockIdx.x + 2 * blockIdx.y], sum);
  }
}
__global__ void gives(double* out) {
  Large d;
  d.first = 1, d.last = -2;
  for (int i = 0; i < 400; ++i) d.values[i] = i;
  takes<<<dim3(2, 3), 128, 128 * sizeof(double)>>>(1, -3, 0.5, d, 250, out);
}
template <class T>
__global__ void of_type(T* x, T value) { *x = value; }
__global__ void __cluster_dims__(2) ranks(unsigned* x) {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  atomicAdd(x, 1 + rank);
}
__global__ void others(unsigned* x) {
  of_type<<<1, 1>>>(reinterpret_cast<float*>(x), 1.5f);
  of_type<<<1, 1>>>(reinterpret_cast<unsigned short*>(x + 1), static_cast<unsigned short>(77));
  ranks<<<4, 1>>>(x + 2);
}

// --- many threads launch at once
__global__ void add_at(unsigned* x, unsigned i) { atomicAdd(&x[i % 7], i); }
__global__ void many(unsigned* x) { add_at<<<1, 1>>>(x, blockIdx.x * blockDim.x + threadIdx.x); }

int show_order(const char* what) {
  unsigned n, all[64];
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpyFromSymbol(&n, count, sizeof n));
  CHECK(cudaMemcpyFromSymbol(all, order, sizeof all));
  std::printf("%s:", what);
  for (unsigned i = 0; i < n; ++i) std::printf(" %u", all[i]);
  std::printf("\n");
  n = 0;
  CHECK(cudaMemcpyToSymbol(count, &n, sizeof n));
  return 0;
}

int main() {
  unsigned* x;
  CHECK(cudaMallocManaged(&x, 4096));
  std::memset(x, 0, 4096);

  node<<<1, 1>>>(x, 0, 1);
  CHECK(cudaDeviceSynchronize());
  std::printf("tree: %u %u %u %u %u %u\n", x[0], x[1], x[2], x[3], x[4], x[5]);

  in_order<<<1, 1>>>();
  show_order("one thread");
  in_order_of_block<<<1, 64>>>();
  show_order("one block");
  after<<<1, 1>>>();
  show_order("after");
  countdown<<<1, 1>>>(40);
  show_order("countdown");

  std::memset(x, 0, 4096);
  two_streams<<<1, 1>>>(x);
  CHECK(cudaDeviceSynchronize());
  std::printf("streams: %u %u\n", x[0], x[1]);
  then<<<1, 64>>>(x);
  CHECK(cudaDeviceSynchronize());
  std::printf("then: %u\n", x[0]);
  x[0] = 0;
  long_countdown<<<1, 1>>>(3000, x);
  CHECK(cudaDeviceSynchronize());
  std::printf("a loop: %u\n", x[0]);

  double* out;
  CHECK(cudaMallocManaged(&out, 6 * sizeof(double)));
  std::memset(out, 0, 6 * sizeof(double));
  gives<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
  std::printf("parameters: %g %g %g\n", out[0], out[3], out[5]);

  std::memset(x, 0, 4096);
  others<<<1, 1>>>(x);
  CHECK(cudaDeviceSynchronize());
  std::printf("others: %x %u %u\n", x[0], x[1], x[2]);

  std::memset(x, 0, 4096);
  many<<<8, 128>>>(x);
  CHECK(cudaDeviceSynchronize());
  std::printf("many: %u %u %u\n", x[0], x[3], x[6]);
  // Work after the parent in its stream runs after its children.
  std::memset(x, 0, 4096);
  many<<<8, 128>>>(x);
  sum_up<<<1, 1>>>(x + 100, x, 7);
  CHECK(cudaDeviceSynchronize());
  std::printf("behind: %u\n", x[100]);
}
