// Addresses that an instruction does not allow: vectors, every kind of copy, mbarriers, atomics.
// arch: sm_90a
#include "tests/kernels/check/check_test.cuh"

char* device() {
  char* p = nullptr;
  cudaMalloc(&p, 65536);
  cudaMemset(p, 0, 65536);
  return p;
}

__global__ void vector(const char* in, float4* out) {
  out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 16 * threadIdx.x);  // [vector]
}

__global__ void shared_vector(int shift, double* out) {
  __shared__ alignas(16) float tile[72];
  for (int i = threadIdx.x; i < 72; i += 32) tile[i] = i;
  __syncthreads();
  out[threadIdx.x] = *reinterpret_cast<double*>(&tile[2 * threadIdx.x + shift]);  // [shared]
}

__global__ void group_copy(const char* in, int* out) {
  __shared__ alignas(16) char tile[1024];
  // clang-format off
  // [group copy]
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(tile + 16 * threadIdx.x)), "l"(in + 16 * threadIdx.x) : "memory");
  // clang-format on
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = tile[16 * threadIdx.x];
}

__global__ void bulk(const char* in, unsigned shift, int* out) {
  __shared__ alignas(128) char tile[2048];
  __shared__ alignas(8) std::uint64_t bar;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(shared_address(&bar))
                 : "memory");
    // clang-format off
    // [bulk]
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(shared_address(tile) + shift), "l"(in), "r"(shared_address(&bar)) : "memory");
    // clang-format on
  }
  asm volatile(
      "{\n.reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
      "@!p bra again;\n}" ::"r"(shared_address(&bar))
      : "memory");
  out[threadIdx.x] = tile[threadIdx.x + shift];
}

// A size that is not a multiple of 16 bytes.
__global__ void bulk_store(char* out, unsigned bytes) {
  __shared__ alignas(128) char tile[64];
  for (int i = 0; i < 64; ++i) tile[i] = i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  // clang-format off
  // [size]
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(shared_address(tile)), "r"(bytes) : "memory");
  // clang-format on
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// Sizes below 16 bytes count as zero. With zero bytes, the addresses do not matter.
__global__ void bulk_of_none(const char* in, unsigned bytes) {
  __shared__ alignas(128) char tile[64];
  __shared__ alignas(8) std::uint64_t bar;
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)) : "memory");
  // clang-format off
  // [less]
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(tile) + 1), "l"(in), "r"(bytes), "r"(shared_address(&bar)) : "memory");
  // clang-format on
}

__global__ void prefetch(const char* in, unsigned bytes) {
  // [prefetch]
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in), "r"(bytes) : "memory");
}

__global__ void mbarrier(unsigned shift) {
  __shared__ alignas(8) std::uint64_t bar[2];
  // [mbarrier]
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(bar) + shift) : "memory");
}

__global__ void atomic(char* at) {
  asm volatile("red.global.add.u64 [%0], 1;" ::"l"(at) : "memory");  // [atomic]
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"vector", [] { vector<<<1, 32>>>(device() + 4, reinterpret_cast<float4*>(device())); }},
       {"vector_twin", [] { vector<<<1, 32>>>(device(), reinterpret_cast<float4*>(device())); }},
       {"shared_vector", [] { shared_vector<<<1, 32>>>(1, reinterpret_cast<double*>(device())); }},
       {"shared_vector_twin",
        [] { shared_vector<<<1, 32>>>(2, reinterpret_cast<double*>(device())); }},
       {"group_copy",
        [] { group_copy<<<1, 32>>>(device() + 8, reinterpret_cast<int*>(device())); }},
       {"group_copy_twin",
        [] { group_copy<<<1, 32>>>(device() + 16, reinterpret_cast<int*>(device())); }},
       {"bulk_source", [] { bulk<<<1, 32>>>(device() + 8, 0, reinterpret_cast<int*>(device())); }},
       {"bulk_destination", [] { bulk<<<1, 32>>>(device(), 8, reinterpret_cast<int*>(device())); }},
       {"bulk_twin", [] { bulk<<<1, 32>>>(device() + 16, 16, reinterpret_cast<int*>(device())); }},
       {"bulk_size", [] { bulk_store<<<1, 1>>>(device(), 40); }},
       {"bulk_size_twin", [] { bulk_store<<<1, 1>>>(device(), 48); }},
       {"bulk_of_less", [] { bulk_of_none<<<1, 1>>>(device(), 8); }},
       {"bulk_of_none_twin", [] { bulk_of_none<<<1, 1>>>(nullptr, 0); }},
       {"prefetch_size", [] { prefetch<<<1, 1>>>(device(), 40); }},
       {"prefetch_source", [] { prefetch<<<1, 1>>>(device() + 8, 48); }},
       {"prefetch_twin", [] { prefetch<<<1, 1>>>(device() + 16, 48); }},
       {"mbarrier", [] { mbarrier<<<1, 1>>>(4); }},
       {"mbarrier_twin", [] { mbarrier<<<1, 1>>>(8); }},
       {"atomic", [] { atomic<<<1, 1>>>(device() + 4); }},
       {"atomic_twin", [] { atomic<<<1, 1>>>(device() + 8); }}});
}
