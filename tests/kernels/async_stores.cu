// st.async and red.async: an mbarrier of the destination's block counts their bytes.
// async: late early shuffled:1
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
#include "tests/kernels/part/bulk.cuh"
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) stores(unsigned long long* out) {
  __shared__ alignas(16) unsigned long long values[4][8];
  __shared__ alignas(8) uint64_t bar;
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), t = threadIdx.x;
  if (t == 0) init(shared_address(&bar), 1);
  values[t / 8][t % 8] = 0;
  cluster.sync();
  // Every block gets 4 + 8 + 8 + 16 + 16 + 8 bytes from every block.
  if (t == 0) expect(shared_address(&bar), 4 * 60);
  if (t < 4) {
    const uint32_t at = map_rank(shared_address(values[rank]), t),
                   there = map_rank(shared_address(&bar), t);
#define ST "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
    const unsigned a = 100 * rank + t;
    asm volatile(ST ".b32 [%0], %1, [%2];" ::"r"(at), "r"(a), "r"(there) : "memory");
    asm volatile(ST ".u64 [%0+8], %1, [%2];" ::"r"(at), "l"(a * 3ull << 20), "r"(there) : "memory");
    asm volatile(ST ".v2.s32 [%0+16], {%1, %2}, [%3];" ::"r"(at), "r"(a + 1), "r"(a + 2), "r"(there)
                 : "memory");
    asm volatile(ST ".v4.f32 [%0+32], {%1, %2, %3, %4}, [%5];" ::"r"(at), "f"(a + .5f), "f"(1.f),
                 "f"(2.f), "f"(a + .25f), "r"(there)
                 : "memory");
    asm volatile(ST ".v2.b64 [%0+48], {%1, %2}, [%3];" ::"r"(at), "l"(a * 5ull), "l"(a * 7ull),
                 "r"(there)
                 : "memory");
    asm volatile(ST ".f64 [%0+24], %1, [%2];" ::"r"(at), "d"(a / 8.), "r"(there) : "memory");
  }
  wait(shared_address(&bar), 0);
  out[blockIdx.x * 32 + t] = values[t / 8][t % 8];
  cluster.sync();
}

__global__ void __cluster_dims__(4, 1, 1) reductions(unsigned long long* out) {
  __shared__ alignas(16) unsigned long long values[16];
  __shared__ alignas(8) uint64_t bar;
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), t = threadIdx.x;
  if (t == 0) init(shared_address(&bar), 1);
  if (t < 16) values[t] = t == 8 ? 0xffffffff : 5 * t;
  cluster.sync();
  // From all 4 blocks: 9 words of 32 bits and one of 64.
  if (t == 0) expect(shared_address(&bar), 4 * (9 * 4 + 8));
  if (t < 4) {
    const uint32_t at = map_rank(shared_address(values), t),
                   there = map_rank(shared_address(&bar), t);
#define RED(form, index, value)                                                              \
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes" form \
               " [%0+" #index "*8], %1, [%2];" ::"r"(at),                                    \
               "r"(value), "r"(there)                                                        \
               : "memory");
    RED(".add.u32", 0, 10 + rank)
    RED(".add.s32", 1, -int(rank))
    RED(".min.u32", 2, 40 - rank * 11)
    RED(".max.s32", 3, 12 + rank)
    RED(".inc.u32", 4, 21)
    RED(".dec.u32", 5, 26)
    RED(".or.b32", 6, 1 << rank)
    RED(".xor.b32", 7, 3 << rank)
    RED(".and.b32", 8, ~(1u << rank))
    asm volatile(
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 "
        "[%0+72], %1, [%2];" ::"r"(at),
        "l"(1ull << (33 + rank)), "r"(there)
        : "memory");
  }
  wait(shared_address(&bar), 0);
  if (t < 16) out[blockIdx.x * 16 + t] = values[t];
  cluster.sync();
}

int main() {
  Buffer<unsigned long long> stored(8 * 32), reduced(8 * 16);
  stores<<<8, 32>>>(stored);
  print_checksum("stores", stored.read());
  print("stores of block 1",
        std::vector<unsigned long long>(stored.host.begin() + 32, stored.host.begin() + 64), 8);
  reductions<<<8, 32>>>(reduced);
  print("reductions", reduced.read());
}
