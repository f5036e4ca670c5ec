// Threads of a block share a tile, but a barrier is missing: before the read, before the next
// write, or not all threads that share the tile reach it.
#include "tests/kernels/check/check_test.cuh"

constexpr int threads = 128;
enum class Missing { none, before_read, before_write, others };

template <Missing missing>
__global__ void shift(int* data) {
  __shared__ int tile[threads];
  const unsigned t = threadIdx.x;
  for (int i = 0; i < 3; ++i) {
    tile[t] = data[t] + i;  // [write]
    if (missing != Missing::before_read) __syncthreads();
    data[t] = tile[(t + 32) % threads];  // [read]
    if (missing != Missing::before_write) __syncthreads();
  }
}

// Two halves of a block have separate barriers, but read each other's values.
template <bool right>
__global__ void halves(int* data) {
  __shared__ int tile[threads];
  const unsigned t = threadIdx.x, half = t / 64;
  tile[t] = t;  // [half writes]
  if (right)
    asm volatile("barrier.sync 1, 128;" ::: "memory");
  else
    asm volatile("barrier.sync %0, 64;" ::"r"(half + 1) : "memory");
  data[t] = tile[t ^ 64];  // [half reads]
}

// A producer arrives, consumers wait.
template <bool right>
__global__ void producer(int* data) {
  __shared__ int tile[32];
  const unsigned t = threadIdx.x;
  if (t < 32) {
    if (!right) asm volatile("barrier.arrive 3, 128;" ::: "memory");
    tile[t] = t;  // [produced]
    if (right) asm volatile("barrier.arrive 3, 128;" ::: "memory");
  } else {
    asm volatile("barrier.sync 3, 128;" ::: "memory");
    data[t] = tile[t % 32];  // [consumed]
  }
}

template <auto kernel>
void run() {
  Buffer<int> data(threads);
  kernel<<<1, threads>>>(data);
  data.read();
}

int main(int argc, char** argv) {
  using M = Missing;
  return run_case(argc, argv,
                  {{"before_read", run<shift<M::before_read>>},
                   {"before_write", run<shift<M::before_write>>},
                   {"twin", run<shift<M::none>>},
                   {"halves", run<halves<false>>},
                   {"halves_twin", run<halves<true>>},
                   {"producer", run<producer<false>>},
                   {"producer_twin", run<producer<true>>}});
}
