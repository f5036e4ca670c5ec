// Distributed shared memory: every kind of access to other blocks of the cluster.
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int threads = 96;

// Each block's histogram is spread over the cluster. Remote atomics count.
__global__ void histogram(const unsigned* in, int n, unsigned* out, int bins) {
  extern __shared__ unsigned counts[];
  auto cluster = cg::this_cluster();
  const int per_block = bins / cluster.num_blocks();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) counts[i] = 0;
  cluster.sync();
  for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) {
    const unsigned bin = in[i] % bins;
    unsigned* there = cluster.map_shared_rank(counts, bin / per_block);
    atomicAdd(there + bin % per_block, 1);
  }
  cluster.sync();
  unsigned* mine =
      out + (blockIdx.x / cluster.num_blocks() * bins) + cluster.block_rank() * per_block;
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) mine[i] = counts[i];
}

// Vectors, narrow values and atomics through shared::cluster and generic addresses.
__global__ void every_form(unsigned long long* out) {
  __shared__ alignas(16) unsigned words[4 * threads];
  __shared__ unsigned long long wide;
  __shared__ unsigned char bytes[threads];
  auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank(), peer = rank ^ 1;
  for (int i = 0; i < 4; ++i) words[4 * t + i] = 1000 * rank + 10 * t + i;
  bytes[t] = static_cast<unsigned char>(t * 3 + rank);
  if (t == 0) wide = rank;
  cluster.sync();
  unsigned at, there;
  at = static_cast<unsigned>(__cvta_generic_to_shared(words + 4 * t));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(peer));
  unsigned a, b, c, d, byte, old;
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(there));
  byte = *cluster.map_shared_rank(bytes + (t + 1) % threads, peer);
  unsigned long long* sum = cluster.map_shared_rank(&wide, peer);
  atomicAdd(sum, 1ull << 32 | t);
  cluster.sync();
  asm volatile("atom.shared::cluster.xor.b32 %0, [%1], 255;" : "=r"(old) : "r"(there));
  if (t % 2) asm volatile("red.shared::cluster.max.u32 [%0 + 4], 1500;" ::"r"(there));
  if (t % 3 == 0)
    asm volatile("st.shared::cluster.v2.u32 [%0 + 8], {%1, %2};" ::"r"(there), "r"(t), "r"(rank));
  // The block's own address is also a cluster address.
  if (t % 3) asm volatile("ld.shared::cluster.u32 %0, [%1 + 12];" : "=r"(byte) : "r"(at));
  cluster.sync();
  const int i = blockIdx.x * threads + t;
  out[4 * i] = a + b * 3ull + c * 7ull + d * 11ull + byte * 0ull;
  out[4 * i + 1] = old | 1ull * words[4 * t + 1] << 32;
  out[4 * i + 2] = words[4 * t] | 1ull * words[4 * t + 2] << 32;
  out[4 * i + 3] = wide ^ words[4 * t + 3];
}

// A token passes through the cluster: each block waits for its left neighbour's store.
__global__ void ring(int* out, int rounds) {
  __shared__ volatile int token;
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), count = cluster.num_blocks();
  token = 0;
  cluster.sync();
  if (threadIdx.x == 0) {
    volatile int* next = cluster.map_shared_rank((int*)&token, (rank + 1) % count);
    for (int r = 1; r <= rounds; ++r) {
      if (rank != 0)
        while (token < r) {
        }
      *next = r;
      if (rank == 0)
        while (token < r) {
        }
    }
    out[blockIdx.x] = token;
  }
  cluster.sync();
}

// Separate arrive and wait, with threads that exit between phases.
__global__ void phases(int* out) {
  __shared__ int slot[4];
  const unsigned t = threadIdx.x;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int seen = 0;
  for (int phase = 0; phase < 4; ++phase) {
    if (t >= 8 * unsigned(4 - phase)) return;
    if (t == 0) slot[phase] = 100 * rank + phase;
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    seen = seen * 3 + 1;
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    int value;
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there)
        : "r"((unsigned)__cvta_generic_to_shared(slot + phase)), "r"(rank ^ 1));
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
    seen += value;
    out[(blockIdx.x * 32 + t) * 4 + phase] = seen;
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    asm volatile("barrier.cluster.wait;" ::: "memory");
  }
}

template <class... P, class... A>
void launch(void (*kernel)(P...), int blocks, int cluster, int count, int shared, A&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks, config.blockDim = count, config.dynamicSmemBytes = shared;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(cluster), 1, 1};
  config.attrs = &attribute, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...));
}

int main() {
  constexpr int n = 20000, bins = 256;
  std::vector<unsigned> numbers(n);
  Random random(5);
  for (auto& v : numbers) v = random.next32();
  Buffer<unsigned> in(numbers);
  for (int cluster : {1, 2, 4, 8}) {
    Buffer<unsigned> out(bins * 16 / cluster);
    launch(histogram, 16, cluster, threads, 4 * bins / cluster, in, n, out, bins);
    std::printf("clusters of %d ", cluster);
    std::vector<unsigned> sums(bins);
    out.read();
    for (std::size_t i = 0; i < out.host.size(); ++i) sums[i % bins] += out.host[i];
    print_checksum("histogram", sums);
  }
  Buffer<unsigned long long> forms(8 * threads * 4);
  launch(every_form, 8, 2, threads, 0, forms);
  print_checksum("every form", forms.read());
  Buffer<int> tokens(16);
  launch(ring, 16, 8, 64, 0, tokens, 20);
  print("ring", tokens.read());
  Buffer<int> seen(4 * 32 * 4);
  launch(phases, 4, 2, 32, 0, seen);
  print("phases", seen.read());
}
