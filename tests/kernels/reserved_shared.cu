// The shared memory that CUDA reserves at the start of every block: its address and size in
// special registers, the addresses of variables, and accesses through shared and generic
// addresses. Kernels leave it zero, since a GPU passes its contents on to other kernels, which may
// rely on zeros.
#include "tests/kernels/kernel_test.cuh"

#define REGISTER(name)                             \
  __device__ unsigned name() {                     \
    unsigned value;                                \
    asm("mov.u32 %0, %%" #name ";" : "=r"(value)); \
    return value;                                  \
  }
REGISTER(reserved_smem_offset_begin)
REGISTER(reserved_smem_offset_end)
REGISTER(reserved_smem_offset_cap)
REGISTER(reserved_smem_offset_0)
REGISTER(reserved_smem_offset_1)
REGISTER(total_smem_size)
REGISTER(dynamic_smem_size)
REGISTER(aggr_smem_size)

extern __shared__ unsigned dynamic[];

__global__ void tell(unsigned* out) {
  __shared__ unsigned first[4];
  first[threadIdx.x] = 1;
  const unsigned says[] = {reserved_smem_offset_begin(),
                           reserved_smem_offset_end(),
                           reserved_smem_offset_cap(),
                           reserved_smem_offset_0(),
                           reserved_smem_offset_1(),
                           total_smem_size(),
                           dynamic_smem_size(),
                           aggr_smem_size(),
                           unsigned(__cvta_generic_to_shared(first)),
                           unsigned(__cvta_generic_to_shared(dynamic))};
  for (unsigned i = 0; i < sizeof says / 4; ++i) out[i] = says[i];
}

// Clears all reserved words. The block needs a barrier before and after it.
__device__ void clear(unsigned at) {
  for (unsigned i = threadIdx.x; i < 72; i += blockDim.x)
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at + 4 * i), "r"(0) : "memory");
}

__device__ unsigned* reserved_generic() {
  return static_cast<unsigned*>(__cvta_shared_to_generic(reserved_smem_offset_1()));
}

// Each thread adds to reserved words in a different way. Thread 0 reports the results.
__global__ void use(unsigned long long* out) {
  const unsigned at = reserved_smem_offset_1(), lane = threadIdx.x;
  unsigned* words = reserved_generic();
  clear(at);
  __syncthreads();
  if (lane == 0) words[1] = ~0u;
  __syncthreads();
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(lane) : "memory");
  asm volatile("red.and.release.cta.b32 [%0], %1;" ::"l"(words + 1), "r"(~(1u << lane % 16))
               : "memory");
  asm volatile("{ .reg .b32 old; atom.or.acq_rel.cta.b32 old, [%0], %1; }" ::"l"(words + 2),
               "r"(1u << (lane & 31))
               : "memory");
  atomicMax(words + 3, lane * 5);
  __syncthreads();
  // Rows of 4, 8 and 16 bytes per lane, whole and in part.
  if (lane < 32) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at + 32 + 4 * lane), "r"(lane * lane) : "memory");
    if (lane < 12)
      asm volatile("st.v2.u32 [%0], {%1, %2};" ::"l"(words + 40 + 2 * lane), "r"(lane), "r"(~lane)
                   : "memory");
    __syncwarp();
    unsigned a, b, c, d, e;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(at + 32 + 4 * (31 - lane)) : "memory");
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b), "=r"(c), "=r"(d), "=r"(e)
                 : "r"(at + 160 + 16 * (lane % 6))
                 : "memory");
    out[4 + lane] = a + 10000ull * (b * 100 + d + (c ^ ~b) + (e ^ ~d));
  }
  __syncthreads();
  if (lane == 0)
    for (int i = 0; i < 4; ++i) out[i] = *static_cast<volatile unsigned*>(words + i);
  __syncthreads();
  clear(at);
}

// Every block of a cluster writes to each of the others, by rank.
__global__ void __cluster_dims__(4, 1, 1) reach(unsigned* out) {
  unsigned mine, theirs;
  const unsigned rank = blockIdx.x % 4, to = threadIdx.x;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(theirs)
      : "r"(reserved_smem_offset_1()), "r"(to));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(mine)
      : "r"(reserved_smem_offset_1()), "r"(rank));
  clear(mine);
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(theirs + 4 * rank), "r"(10 * rank + to + 1)
               : "memory");
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(theirs + 16), "r"(1)
               : "memory");
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  unsigned word, count;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(mine + 4 * to) : "memory");
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(count) : "r"(mine + 16) : "memory");
  out[blockIdx.x * 4 + to] = word + 1000 * count;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  clear(mine);
}

int main() {
  int attribute = 0;
  CHECK(cudaDeviceGetAttribute(&attribute, cudaDevAttrReservedSharedMemoryPerBlock, 0));
  std::printf("reserved shared memory per block: %d\n", attribute);
  for (const unsigned bytes : {0u, 2048u}) {
    Buffer<unsigned> out(10);
    tell<<<1, 4, bytes>>>(out);
    print("begin end cap 0 1, total dynamic aggr, static at, dynamic at", out.read());
  }
  Buffer<unsigned long long> used(36);
  use<<<1, 64>>>(used);
  print("used", used.read(), 4);
  Buffer<unsigned> reached(32);
  reach<<<8, 4>>>(reached);
  print("reached", reached.read(), 4);
}
