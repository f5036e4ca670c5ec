// cp.reduce.async.bulk: every operation and type, to global memory and to another block.
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "tests/kernels/part/bulk.cuh"
namespace cg = cooperative_groups;

constexpr int bytes = 256, blocks = 6;

// Every block reduces its tile into the same memory.
#define GLOBAL(name, form)                                                              \
  __global__ void name(const char* in, char* out) {                                     \
    __shared__ alignas(128) char tile[bytes];                                           \
    for (int i = threadIdx.x; i < bytes; i += 32) tile[i] = in[blockIdx.x * bytes + i]; \
    fence_async();                                                                      \
    __syncwarp();                                                                       \
    if (threadIdx.x) return;                                                            \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." form             \
                 " [%0], [%1], %2;" ::"l"(out),                                         \
                 "r"(shared_address(tile)), "n"(bytes)                                  \
                 : "memory");                                                           \
    commit();                                                                           \
    wait_group<0>();                                                                    \
  }
GLOBAL(add_u32, "add.u32")
GLOBAL(add_s32, "add.s32")
GLOBAL(add_u64, "add.u64")
GLOBAL(min_u32, "min.u32")
GLOBAL(min_s32, "min.s32")
GLOBAL(min_u64, "min.u64")
GLOBAL(min_s64, "min.s64")
GLOBAL(max_u32, "max.u32")
GLOBAL(max_s32, "max.s32")
GLOBAL(max_u64, "max.u64")
GLOBAL(max_s64, "max.s64")
GLOBAL(inc_u32, "inc.u32")
GLOBAL(dec_u32, "dec.u32")
GLOBAL(and_b32, "and.b32")
GLOBAL(and_b64, "and.b64")
GLOBAL(or_b32, "or.b32")
GLOBAL(or_b64, "or.b64")
GLOBAL(xor_b32, "xor.b32")
GLOBAL(xor_b64, "xor.b64")
GLOBAL(add_f32, "add.f32")
GLOBAL(add_f64, "add.f64")
GLOBAL(add_f16, "add.noftz.f16")
GLOBAL(add_bf16, "add.noftz.bf16")
GLOBAL(min_f16, "min.f16")
GLOBAL(max_f16, "max.f16")
GLOBAL(min_bf16, "min.bf16")
GLOBAL(max_bf16, "max.bf16")

// To the other block of the pair.
#define PEER(name, form)                                                                        \
  __global__ void __cluster_dims__(2, 1, 1) name(const char* in, char* out) {                   \
    __shared__ alignas(128) char tile[2][bytes];                                                \
    __shared__ alignas(8) uint64_t bar;                                                         \
    auto cluster = cg::this_cluster();                                                          \
    const unsigned rank = cluster.block_rank(), there = rank ^ 1;                               \
    for (int i = threadIdx.x; i < bytes; i += 32) {                                             \
      tile[0][i] = in[blockIdx.x * bytes + i];                                                  \
      tile[1][i] = in[(blockIdx.x + 3) % blocks * bytes + i];                                   \
    }                                                                                           \
    if (threadIdx.x == 0) init(shared_address(&bar), 1);                                        \
    fence_async();                                                                              \
    cluster.sync();                                                                             \
    if (threadIdx.x == 0) {                                                                     \
      expect(shared_address(&bar), bytes);                                                      \
      asm volatile(                                                                             \
          "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." form \
          " [%0], [%1], %2, [%3];" ::"r"(map_rank(shared_address(tile[1]), there)),             \
          "r"(shared_address(tile[0])), "n"(bytes), "r"(map_rank(shared_address(&bar), there))  \
          : "memory");                                                                          \
    }                                                                                           \
    wait(shared_address(&bar), 0);                                                              \
    for (int i = threadIdx.x; i < bytes; i += 32) out[blockIdx.x * bytes + i] = tile[1][i];     \
    cluster.sync();                                                                             \
  }
PEER(peer_add_u32, "add.u32")
PEER(peer_add_s32, "add.s32")
PEER(peer_add_u64, "add.u64")
PEER(peer_min_s32, "min.s32")
PEER(peer_max_u32, "max.u32")
PEER(peer_inc_u32, "inc.u32")
PEER(peer_dec_u32, "dec.u32")
PEER(peer_and_b32, "and.b32")
PEER(peer_or_b32, "or.b32")
PEER(peer_xor_b32, "xor.b32")

std::vector<char> some(Random& random, std::size_t count) {
  std::vector<char> values(count);
  for (char& v : values) v = char(random.next32() >> 13);
  return values;
}
// Finite numbers of a few sizes, whose sums are exact in any order.
template <class T>
std::vector<char> numbers(Random& random, std::size_t count) {
  std::vector<char> values(count);
  for (std::size_t i = 0; i < count; i += sizeof(T)) {
    const T v = T(float(int(random.next32() % 65) - 32) / 4);
    std::memcpy(&values[i], &v, sizeof v);
  }
  return values;
}

void run(const char* name, void (*kernel)(const char*, char*), std::vector<char> in,
         std::vector<char> start, int grid) {
  Buffer<char> from(std::move(in)), to(std::move(start));
  kernel<<<grid, 32>>>(from, to);
  print_checksum(name, to.read());
}

int main() {
  Random random(11);
#define RUN(name) run(#name, name, some(random, blocks* bytes), some(random, bytes), blocks);
  RUN(add_u32)
  RUN(add_s32) RUN(add_u64) RUN(min_u32) RUN(min_s32) RUN(min_u64) RUN(min_s64) RUN(max_u32)
      RUN(max_s32) RUN(max_u64) RUN(max_s64) RUN(and_b32) RUN(and_b64) RUN(or_b32) RUN(or_b64)
          RUN(xor_b32) RUN(xor_b64)
  // inc and dec depend on the order of the blocks, so there is one block.
#define ONE(name) run(#name, name, some(random, blocks* bytes), some(random, bytes), 1);
              ONE(inc_u32) ONE(dec_u32)
#define SUM(name, T) \
  run(#name, name, numbers<T>(random, blocks * bytes), numbers<T>(random, bytes), blocks);
                  SUM(add_f32, float) SUM(add_f64, double) SUM(add_f16, __half)
                      SUM(add_bf16, __nv_bfloat16) SUM(min_f16, __half) SUM(max_f16, __half)
                          SUM(min_bf16, __nv_bfloat16) SUM(max_bf16, __nv_bfloat16)
#define PAIR(name) \
  run(#name, name, some(random, blocks* bytes), some(random, blocks* bytes), blocks);
                              PAIR(peer_add_u32) PAIR(peer_add_s32) PAIR(peer_add_u64)
                                  PAIR(peer_min_s32) PAIR(peer_max_u32) PAIR(peer_inc_u32)
                                      PAIR(peer_dec_u32) PAIR(peer_and_b32) PAIR(peer_or_b32)
                                          PAIR(peer_xor_b32)
}
