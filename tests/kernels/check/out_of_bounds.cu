// Accesses outside allocations by all kinds of instruction.
// arch: sm_90a
#include "tests/kernels/check/check_test.cuh"

constexpr int n = 1000;

template <class T>
T* device(std::size_t count) {
  T* p = nullptr;
  cudaMalloc(&p, count * sizeof(T));
  cudaMemset(p, 0, count * sizeof(T));
  return p;
}

__global__ void past_end(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 1;  // [past the end]
}
__global__ void inside(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}

__global__ void before_begin(const float* in, float* out) {
  const int i = threadIdx.x;
  out[i] = in[i - 1];  // [before the begin]
}
__global__ void clamped(const float* in, float* out) {
  const int i = threadIdx.x;
  out[i] = in[i ? i - 1 : 0];
}

__global__ void store(int* p) {
  *p = 1;  // [null]
}

__global__ void dynamic_shared(float* out) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = 1;  // [shared]
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void copy_group(const int4* in, int* out, int count) {
  __shared__ int4 tile[128];
  const int i = threadIdx.x;
  if (i < count)
    // clang-format off
    // [group copy]
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&tile[i])), "l"(&in[i]) : "memory");
  // clang-format on
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (i < count) out[i] = tile[i].x;
}

__global__ void copy_bulk(const int* in, int* out, unsigned bytes) {
  __shared__ alignas(128) int tile[1024];
  __shared__ alignas(8) std::uint64_t bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&bar)),
                 "r"(bytes)
                 : "memory");
    // clang-format off
    // [bulk copy]
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(shared_address(tile)), "l"(in), "r"(bytes), "r"(shared_address(&bar)) : "memory");
    // clang-format on
  }
  asm volatile(
      "{\n.reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
      "@!p bra again;\n}" ::"r"(shared_address(&bar))
      : "memory");
  if (threadIdx.x * 4 < bytes) out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void atomics(int* counts, int bins) {
  // [atomic]
  asm volatile("red.global.add.u32 [%0], 1;" ::"l"(&counts[threadIdx.x % bins]) : "memory");
}

__constant__ int table[4] = {1, 2, 3, 4};
__device__ int weights[256];
__global__ void variables(int* out, int shift) {
  out[threadIdx.x] = weights[threadIdx.x + shift];  // [variable]
}

__global__ void heap(int* out, int count) {
  int* p = static_cast<int*>(malloc(16));    // [malloc]
  for (int i = 0; i < count; ++i) p[i] = i;  // [heap]
  out[0] = p[1];
  free(p);
}

__global__ void host_pointer(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // [host pointer]
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"past_end", [] { past_end<<<4, 256>>>(device<float>(n)); }},
       {"past_end_twin", [] { inside<<<4, 256>>>(device<float>(n)); }},
       {"before_begin", [] { before_begin<<<1, 64>>>(device<float>(64), device<float>(64)); }},
       {"before_begin_twin", [] { clamped<<<1, 64>>>(device<float>(64), device<float>(64)); }},
       {"null", [] { store<<<1, 1>>>(nullptr); }},
       {"null_twin", [] { store<<<1, 1>>>(device<int>(1)); }},
       {"dynamic_shared", [] { dynamic_shared<<<1, 64, 32 * 4>>>(device<float>(64)); }},
       {"dynamic_shared_tail", [] { dynamic_shared<<<1, 64, 63 * 4>>>(device<float>(64)); }},
       {"dynamic_shared_twin", [] { dynamic_shared<<<1, 64, 64 * 4>>>(device<float>(64)); }},
       {"group_copy", [] { copy_group<<<1, 128>>>(device<int4>(100), device<int>(128), 128); }},
       {"group_copy_twin",
        [] { copy_group<<<1, 128>>>(device<int4>(100), device<int>(128), 100); }},
       {"bulk", [] { copy_bulk<<<1, 128>>>(device<int>(96), device<int>(128), 512); }},
       {"bulk_twin", [] { copy_bulk<<<1, 128>>>(device<int>(128), device<int>(128), 512); }},
       {"bulk_shared", [] { copy_bulk<<<1, 128>>>(device<int>(4096), device<int>(4096), 8192); }},
       {"atomic", [] { atomics<<<1, 32>>>(device<int>(8), 9); }},
       {"atomic_twin", [] { atomics<<<1, 32>>>(device<int>(8), 8); }},
       {"variable", [] { variables<<<1, 256>>>(device<int>(256), 1); }},
       {"variable_twin", [] { variables<<<1, 256>>>(device<int>(256), 0); }},
       {"heap", [] { heap<<<1, 1>>>(device<int>(1), 5); }},
       {"heap_twin", [] { heap<<<1, 1>>>(device<int>(1), 4); }},
       {"host_pointer",
        [] {
          static int here[32];
          host_pointer<<<1, 32>>>(here, device<int>(32));
        }},
       {"host_pointer_twin", [] {
          int* here = nullptr;
          cudaMallocHost(&here, 32 * sizeof(int));
          for (int i = 0; i < 32; ++i) here[i] = i;
          host_pointer<<<1, 32>>>(here, device<int>(32));
        }}});
}
