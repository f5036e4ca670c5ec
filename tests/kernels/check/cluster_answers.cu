// Blocks take the places of clusters that have not been launched (clusterlaunchcontrol).
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
#include "tests/kernels/check/ptx_macros.cuh"

enum class What {
  right,
  not_awaited,     // the answer is read before its mbarrier's phase
  reused_unfenced, // tile-ai/tilelang#2410: the answer's bytes are reused without a proxy fence
  reused_early,    // facebookexperimental/triton#1723: and before all threads have read it
  after_failure,   // marin-community/marin#8870: asks again although none is left
  too_few_bytes,   // the mbarrier expects 8 bytes of the 16
  partly_exited,   // a block of the cluster exits, and the answer for all blocks may come later
  not_begun,       // nothing tells that the other block has begun
};
constexpr int threads = 64;

#define REQUEST(answer, bar)                                                                    \
  asm volatile(                                                                                 \
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "    \
      "[%0], [%1];" ::"r"(shared_address(answer)),                                              \
      "r"(shared_address(bar))                                                                  \
      : "memory")
#define READ_ANSWER(canceled, x, answer)                                                     \
  asm volatile(                                                                              \
      "{ .reg .b128 r; .reg .pred p; ld.shared.b128 r, [%2];\n"                              \
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r; selp.u32 %0, 1, 0, p;\n" \
      "mov.u32 %1, 0;\n"                                                                     \
      "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, r; }"            \
      : "=r"(canceled), "=r"(x)                                                              \
      : "r"(shared_address(answer))                                                          \
      : "memory")

template <What what>
__global__ void take(unsigned* done) {
  __shared__ alignas(16) unsigned answer[4];
  __shared__ alignas(8) std::uint64_t bar;
  const int t = threadIdx.x;
  if (t < 4) answer[t] = 0;
  if (t == 0) MBARRIER_INIT(&bar, 1);
  FENCE_PROXY_ASYNC();
  __syncthreads();
  unsigned x = blockIdx.x, left = what == What::after_failure ? 1 : 0;
  for (unsigned phase = 0;; phase ^= 1) {
    if (t == 0) {
      MBARRIER_EXPECT(&bar, what == What::too_few_bytes ? 8 : 16);  // [expects]
      REQUEST(answer, &bar);  // [requests]
    }
    if (t == 0) atomicAdd(&done[x], 1);
    if (what != What::not_awaited) MBARRIER_WAIT(&bar, phase);
    if (what == What::reused_early && t >= 32) __syncthreads();
    unsigned canceled, next;
    READ_ANSWER(canceled, next, answer);  // [reads]
    if (what == What::not_awaited) {
      MBARRIER_WAIT(&bar, phase);
      break;
    }
    if (what != What::reused_unfenced) FENCE_PROXY_ASYNC();
    if (what != What::reused_early || t < 32) __syncthreads();
    if (!canceled && left-- == 0) break;
    if (canceled) x = next;
  }
}

#define REQUEST_FOR_ALL(answer, bar)                                                            \
  asm volatile(                                                                                 \
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."         \
      "multicast::cluster::all.b128 [%0], [%1];" ::"r"(shared_address(answer)),                 \
      "r"(shared_address(bar))                                                                  \
      : "memory")
#define CLUSTER_BARRIER() \
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory")

// One block asks for both.
template <What what>
__global__ void __cluster_dims__(2, 1, 1) take_pair(unsigned* done) {
  __shared__ alignas(16) unsigned answer[4];
  __shared__ alignas(8) std::uint64_t bar;
  const int t = threadIdx.x, rank = blockIdx.x % 2;
  if (t == 0) {
    MBARRIER_INIT(&bar, 1);  // [initialises]
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    MBARRIER_EXPECT(&bar, 16);
  }
  if (what == What::not_begun)
    __syncthreads();
  else
    CLUSTER_BARRIER();
  if (rank == 0 && t == 0) REQUEST_FOR_ALL(answer, &bar);  // [requests for all]
  if (what == What::partly_exited && rank == 1) return;
  MBARRIER_WAIT(&bar, 0);
  unsigned canceled, next;
  READ_ANSWER(canceled, next, answer);
  if (t == 0) done[rank] = canceled ? next : 0;
}

template <What what>
void run_pair() {
  Buffer<unsigned> done(2);
  take_pair<what><<<2, threads>>>(done);
}
template <What what>
void run() {
  Buffer<unsigned> done(400);
  take<what><<<400, threads>>>(done);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twin", run<What::right>},
                   {"not_awaited", run<What::not_awaited>},
                   {"reused_unfenced", run<What::reused_unfenced>},
                   {"reused_early", run<What::reused_early>},
                   {"after_failure", run<What::after_failure>},
                   {"too_few_bytes", run<What::too_few_bytes>},
                   {"pair_twin", run_pair<What::right>},
                   {"partly_exited", run_pair<What::partly_exited>},
                   {"not_begun", run_pair<What::not_begun>}});
}
