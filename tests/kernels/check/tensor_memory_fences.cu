// The fences of tcgen05, which PTX asks for where tensor memory passes between threads, and which
// CUTLASS and FlashAttention-4 do without.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200 --strict
#include "tests/kernels/check/tcgen05_test.cuh"

enum class What {
  right,
  no_fence_after_commit,  // tile-ai/tilelang#1980: D is loaded without fence::after_thread_sync
  no_fence_before_stores, // deepseek-ai/DeepGEMM#292: the stores of A have no ::before_thread_sync
  no_fence_after_stores,  // the thread that multiplies has no ::after_thread_sync
  no_wait_after_use,      // only uses of the registers tell that the loads are complete
};

template <What what>
__global__ void product(float* out) {
  __shared__ TileB b;
  __shared__ alignas(8) std::uint64_t stored, multiplied, loaded;
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32;
  clear(&b, sizeof b);
  FENCE_PROXY_ASYNC();
  if (t == 0) {
    MBARRIER_INIT(&stored, 128);
    MBARRIER_INIT(&multiplied, 1);
    MBARRIER_INIT(&loaded, 128);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (warp == 4) ALLOC(&address, 64);
  __syncthreads();
  const unsigned d = address;
  if (warp == 4 && t % 32 == 0) {
    MBARRIER_WAIT(&stored, 0);
    if (what != What::no_fence_after_stores) FENCE_AFTER();
    MULTIPLY_TENSOR(d, d + 32, &b, false);  // [multiplies]
    COMMIT_TENSOR(&multiplied);
    MBARRIER_WAIT(&loaded, 0);
    FENCE_AFTER();
    MULTIPLY_TENSOR(d, d + 32, &b, false);  // [multiplies again]
    COMMIT_TENSOR(&multiplied);
  }
  __syncwarp();
  if (warp < 4) {
    for (int c = 0; c < 8; ++c) STORE(own_lanes(d + 32 + c), 0);  // [stores]
    WAIT_STORES();
    if (what != What::no_fence_before_stores) FENCE_BEFORE();
    MBARRIER_ARRIVE(&stored);
    MBARRIER_WAIT(&multiplied, 0);
    if (what != What::no_fence_after_commit) FENCE_AFTER();
    unsigned word;
    LOAD(word, own_lanes(d));  // [loads]
    if (what == What::no_wait_after_use)
      asm volatile("st.global.b32 [%0], %1;" ::"l"(out + t), "r"(word) : "memory");
    else
      WAIT_LOADS();
    FENCE_BEFORE();
    MBARRIER_ARRIVE(&loaded);
    out[t] = __uint_as_float(word);
    MBARRIER_WAIT(&multiplied, 1);
  }
  __syncthreads();
  if (warp == 4) DEALLOC(d, 64);
}

template <What what>
void run() {
  Buffer<float> out(128);
  product<what><<<1, 160>>>(out);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twin", run<What::right>},
                   {"no_fence_after_commit", run<What::no_fence_after_commit>},
                   {"no_fence_before_stores", run<What::no_fence_before_stores>},
                   {"no_fence_after_stores", run<What::no_fence_after_stores>},
                   {"no_wait_after_use", run<What::no_wait_after_use>}});
}
