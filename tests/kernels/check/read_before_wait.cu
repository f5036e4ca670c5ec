// Threads read data that their own or others' cp.async may still be writing.
#include <cuda_pipeline.h>

#include "tests/kernels/check/ptx_macros.cuh"

constexpr int threads = 64;
enum class Mistake { none, no_wait, not_committed, wait_before_commit, others_wait, no_barrier };

template <Mistake mistake>
__global__ void own(const int4* in, int4* out) {
  __shared__ int4 tile[threads];
  const unsigned t = threadIdx.x;
  COPY(&tile[t], in + t, 16);  // [copy]
  if (mistake == Mistake::wait_before_commit) WAIT_GROUP(0);
  if (mistake != Mistake::not_committed) COMMIT();
  if (mistake != Mistake::no_wait && mistake != Mistake::wait_before_commit) WAIT_GROUP(0);
  out[t] = tile[t];  // [read]
  WAIT_ALL();
}

// Each thread reads what its neighbour has copied.
template <Mistake mistake>
__global__ void neighbour(const int4* in, int4* out) {
  __shared__ int4 tile[threads];
  const unsigned t = threadIdx.x;
  COPY(&tile[t], in + t, 16);  // [neighbour's copy]
  COMMIT();
  if (mistake == Mistake::others_wait) __syncthreads();
  WAIT_GROUP(0);
  if (mistake == Mistake::none) __syncthreads();
  out[t] = tile[t ^ 32];  // [neighbour's read]
}

// One thread copies for all. The others' waits cover only their own groups, which are none.
template <bool right>
__global__ void elected(const int4* in, int4* out) {
  __shared__ int4 tile[threads];
  const unsigned t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < threads; ++i) COPY(&tile[i], in + i, 16);  // [elected copy]
    COMMIT();
    if (right) WAIT_GROUP(0);
  }
  if (!right) WAIT_GROUP(0);
  if (right) __syncthreads();
  if (t) out[t] = tile[t];  // [read of others]
  if (!right) __syncthreads();
}

template <bool right>
__global__ void pipeline(const int4* in, int4* out) {
  __shared__ int4 tile[threads];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], in + t, 16);  // [pipeline copy]
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  out[t] = tile[t];  // [pipeline read]
  __pipeline_wait_prior(0);
}

template <auto kernel>
void run() {
  Buffer<int4> in(threads), out(threads);
  kernel<<<1, threads>>>(in, out);
  out.read();
}

int main(int argc, char** argv) {
  using M = Mistake;
  return run_case(argc, argv,
                  {{"no_wait", run<own<M::no_wait>>},
                   {"not_committed", run<own<M::not_committed>>},
                   {"wait_before_commit", run<own<M::wait_before_commit>>},
                   {"twin", run<own<M::none>>},
                   {"no_barrier", run<neighbour<M::no_barrier>>},
                   {"barrier_before_wait", run<neighbour<M::others_wait>>},
                   {"neighbour_twin", run<neighbour<M::none>>},
                   {"others_wait", run<elected<false>>},
                   {"elected_twin", run<elected<true>>},
                   {"pipeline", run<pipeline<false>>},
                   {"pipeline_twin", run<pipeline<true>>}});
}
