// Two blocks multiply together: each has half of the rows of A and half of the columns of B, and a
// thread of the first one issues (tcgen05.mma with .cta_group::2).
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
#include "tests/kernels/check/tcgen05_test.cuh"

enum class What {
  right,
  by_cluster_barrier,  // the other block learns of the end by a barrier, not by a commit
  allocated_early,     // NVIDIA/cutlass#3316: nothing tells that the other block has begun
  peer_not_ready,      // NVIDIA/cutlass#3647: nobody waits for the other block's matrices
  peer_not_fenced,     // the other block writes A without a proxy fence
  ready_for_own,       // NVIDIA/cutlass#3643: it arrives with .cta scope
  peer_overwrites,     // it stores to its A before the phase of the commit
  peer_reads_early,    // it loads its half of D before that phase
  peer_frees_early,    // facebookexperimental/triton#1707: it frees the columns before that phase
  peer_does_not_free,  // only one block frees
  peer_exits,          // triton-lang/triton#9498: it does not wait for the commit that reaches it
  peer_invalidates,    // triton-lang/triton#10656: it invalidates the mbarrier before
  ready_for_one,       // deepseek-ai/DeepGEMM#368: the mbarrier counts the arrival of one block
  own_only,            // the commit reaches the first block only
};

constexpr int pair_columns = 16;
constexpr unsigned pair_instruction = 1 << 4 | pair_columns / 8 << 17 | 2 * d_rows / 16 << 24;

#define ALLOC_PAIR(to, columns)                                                                 \
  asm volatile(                                                                                 \
      "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(to)), \
      "r"(columns)                                                                              \
      : "memory")
#define DEALLOC_PAIR(at, columns)                                                        \
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(at), "r"(columns) \
               : "memory")
#define MULTIPLY_PAIR(d, a, b)                                                            \
  asm volatile(                                                                           \
      "{\n.reg .pred p;\nsetp.ne.b32 p, 0, 0;\n"                                          \
      "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(d),              \
      "l"(matrix(a)), "l"(matrix(b)), "r"(pair_instruction)                               \
      : "memory")
#define COMMIT_PAIR(bar, mask)                                                                   \
  asm volatile(                                                                                  \
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 " \
      "[%0], %1;" ::"r"(shared_address(bar)),                                                    \
      "h"(static_cast<short>(mask))                                                              \
      : "memory")
#define CLUSTER_BARRIER() \
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory")
#define ARRIVE_AT(rank, bar, scope)                                                \
  asm volatile(                                                                    \
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"             \
      "mbarrier.arrive.release." scope ".shared::cluster.b64 _, [there];\n}" ::"r"( \
          shared_address(bar)),                                                    \
      "n"(rank)                                                                    \
      : "memory")
#define WAIT_IN_CLUSTER(bar, parity)                                                       \
  asm volatile(                                                                            \
      "{ .reg .pred done;\n"                                                               \
      "AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n" \
      "@!done bra AGAIN; }" ::"r"(shared_address(bar)),                                    \
      "r"(parity)                                                                          \
      : "memory")

template <What what>
__global__ void __cluster_dims__(2, 1, 1) product(float* out) {
  __shared__ TileA a;
  __shared__ TileB b;
  __shared__ alignas(8) std::uint64_t done, ready, issued;
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32, rank = blockIdx.x;
  clear(&b, sizeof b);
  FENCE_PROXY_ASYNC();
  if (t == 0) {
    MBARRIER_INIT(&done, 1);
    MBARRIER_INIT(&ready, what == What::ready_for_one ? 1 : 2);  // [expects]
    MBARRIER_INIT(&issued, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (what != What::allocated_early) CLUSTER_BARRIER();
  if (warp == 0) ALLOC_PAIR(&address, 32);  // [allocates]
  CLUSTER_BARRIER();
  const unsigned d = address;
  for (int i = t; i < int(sizeof a) / 4; i += 128) reinterpret_cast<int*>(&a)[i] = 0;  // [makes]
  if (what != What::peer_not_fenced || rank == 0) FENCE_PROXY_ASYNC();
  __syncthreads();
  if (t == 0) {
    if (what == What::ready_for_own)
      ARRIVE_AT(0, &ready, "cta");
    else
      ARRIVE_AT(0, &ready, "cluster");  // [arrives]
  }
  if (rank == 0 && t == 0) {
    if (what != What::peer_not_ready) WAIT_IN_CLUSTER(&ready, 0);  // [waits]
    MULTIPLY_PAIR(d, &a, &b);  // [multiplies]
    COMMIT_PAIR(&done, what == What::own_only || what == What::by_cluster_barrier ? 1 : 3);  // [commits]
    ARRIVE_AT(1, &issued, "cluster");
    if (what == What::peer_not_ready) WAIT_IN_CLUSTER(&ready, 0);
  }
  __syncwarp();
  const bool late = rank == 1 && (what == What::peer_overwrites || what == What::peer_reads_early ||
                                  what == What::peer_frees_early || what == What::peer_invalidates);
  const bool skips = rank == 1 && (what == What::peer_exits || what == What::own_only ||
                                   what == What::by_cluster_barrier);
  if (rank == 1) WAIT_IN_CLUSTER(&issued, 0);
  if (!late && !skips) MBARRIER_WAIT(&done, 0);
  if (what == What::by_cluster_barrier) CLUSTER_BARRIER();
  unsigned word = 0;
  if (what == What::peer_overwrites || what == What::right) reinterpret_cast<int*>(&a)[t] = 1;  // [stores]
  if (what != What::peer_frees_early && what != What::peer_exits &&
      what != What::peer_invalidates) {
    LOAD(word, own_lanes(d));  // [loads]
    WAIT_LOADS();
  }
  if (what == What::peer_invalidates) {
    __syncthreads();
    if (t == 0) MBARRIER_INVAL(&done);  // [invalidates]
  }
  __syncthreads();
  if (what != What::peer_does_not_free || rank == 0)
    if (warp == 0) DEALLOC_PAIR(d, 32);  // [frees]
  if (late && what != What::peer_invalidates) MBARRIER_WAIT(&done, 0);
  if (out) out[rank * 128 + t] = __uint_as_float(word);
}

template <What what>
void run() {
  Buffer<float> out(256);
  product<what><<<2, 128>>>(out);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twin", run<What::right>},
                   {"by_cluster_barrier", run<What::by_cluster_barrier>},
                   {"allocated_early", run<What::allocated_early>},
                   {"peer_not_ready", run<What::peer_not_ready>},
                   {"peer_not_fenced", run<What::peer_not_fenced>},
                   {"ready_for_own", run<What::ready_for_own>},
                   {"peer_overwrites", run<What::peer_overwrites>},
                   {"peer_reads_early", run<What::peer_reads_early>},
                   {"peer_frees_early", run<What::peer_frees_early>},
                   {"peer_does_not_free", run<What::peer_does_not_free>},
                   {"peer_exits", run<What::peer_exits>},
                   {"peer_invalidates", run<What::peer_invalidates>},
                   {"ready_for_one", run<What::ready_for_one>},
                   {"own_only", run<What::own_only>}});
}
