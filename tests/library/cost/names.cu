// flags: -DNDEBUG
// CUDA's C names against the instructions that they stand for, without the test of a number of zeros
// that is known only at run time.
#include <inflight/cuda_pipeline.h>

namespace {

constexpr int threads = 128;

template <int Bytes>
__device__ void hand_copy(void* to, const void* from) {
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const auto global = __cvta_generic_to_global(from);
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(global), "n"(Bytes)
                 : "memory");
}

}  // namespace

// Each size, a wait that leaves one batch in flight and one that leaves none.
extern "C" __global__ void library_pipeline(int4* out, const int4* in) {
  __shared__ int4 tile[2][threads];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], in + t, sizeof(int4));
  __pipeline_commit();
  __pipeline_memcpy_async(&tile[1][t].x, in + threads + t, 8);
  __pipeline_memcpy_async(&tile[1][t].z, &in[threads + t].z, 4);
  __pipeline_memcpy_async(&tile[1][t].w, &in[threads + t].w, 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  out[t] = tile[0][t];
  __pipeline_wait_prior(0);
  out[threads + t] = tile[1][t];
}

extern "C" __global__ void hand_pipeline(int4* out, const int4* in) {
  __shared__ int4 tile[2][threads];
  const unsigned t = threadIdx.x;
  hand_copy<16>(&tile[0][t], in + t);
  asm volatile("cp.async.commit_group;" ::: "memory");
  hand_copy<8>(&tile[1][t].x, in + threads + t);
  hand_copy<4>(&tile[1][t].z, &in[threads + t].z);
  hand_copy<4>(&tile[1][t].w, &in[threads + t].w);
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  out[t] = tile[0][t];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  out[threads + t] = tile[1][t];
}

// Waits in an unrolled loop, as programs drain their stages.
extern "C" __global__ void library_drain(int* out, const int* in) {
  __shared__ int tile[4][threads];
  const unsigned t = threadIdx.x;
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    __pipeline_memcpy_async(&tile[s][t], in + s * threads + t, sizeof(int));
    __pipeline_commit();
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    __pipeline_wait_prior(3 - s);
    out[s * threads + t] = tile[s][t];
  }
}

extern "C" __global__ void hand_drain(int* out, const int* in) {
  __shared__ int tile[4][threads];
  const unsigned t = threadIdx.x;
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    hand_copy<4>(&tile[s][t], in + s * threads + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  asm volatile("cp.async.wait_group 3;" ::: "memory");
  out[t] = tile[0][t];
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  out[threads + t] = tile[1][t];
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  out[2 * threads + t] = tile[2][t];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  out[3 * threads + t] = tile[3][t];
}

// Zeros after the bytes read, and an mbarrier that waits for copies.
extern "C" __global__ void library_arrive(int4* out, const int4* in, int zeros) {
  __shared__ int4 tile[threads];
  __shared__ __mbarrier_t bar;
  const unsigned t = threadIdx.x;
  if (t == 0) __mbarrier_init(&bar, threads);
  __syncthreads();
  __pipeline_memcpy_async(&tile[t], in + t, sizeof(int4), zeros);
  __pipeline_arrive_on(&bar);
  const __mbarrier_token_t token = __mbarrier_arrive(&bar);
  while (!__mbarrier_test_wait(&bar, token)) {
  }
  out[t] = tile[threads - 1 - t];
}

extern "C" __global__ void hand_arrive(int4* out, const int4* in, int zeros) {
  __shared__ int4 tile[threads];
  __shared__ unsigned long long bar;
  const unsigned t = threadIdx.x;
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (t == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(threads) : "memory");
  __syncthreads();
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared),
               "l"(__cvta_generic_to_global(in + t)), "r"(16 - zeros)
               : "memory");
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(address) : "memory");
  unsigned long long token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(address) : "memory");
  unsigned done;
  do {
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(address), "l"(token)
        : "memory");
  } while (!done);
  out[t] = tile[threads - 1 - t];
}
