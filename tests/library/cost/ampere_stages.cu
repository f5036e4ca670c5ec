// A stream through cp.async stages: the library's forms against hand-written code.
// more: block_stages SASS 3: set-up stores the number of threads, which quit() counts; see instructions
// more: block_stages instructions 1: of stages in any memory, whose test is gone, one selp became two
// more: block_stages integer 2: the same
#include <inflight/copy.cuh>
#include <inflight/pipeline.cuh>

namespace {

constexpr int stages = 4, threads = 256;

}  // namespace

// One thread's pipeline: it commits a batch in every iteration, empty ones at the end.
extern "C" __global__ void library_thread_stages(int4* out, const int4* in, int batches) {
  __shared__ int4 tile[stages][threads];
  auto pipe = inflight::make_pipeline<stages>();
  in += threadIdx.x, out += threadIdx.x;
  for (int s = 0; s < stages - 1; ++s) {
    inflight::cp_async<16>(&tile[s][threadIdx.x], in + s * threads);
    pipe.producer_commit();
  }
  for (int b = 0; b < batches; ++b) {
    const int next = b + stages - 1;
    if (next < batches)
      inflight::cp_async<16>(&tile[next % stages][threadIdx.x], in + next * threads);
    pipe.producer_commit();
    inflight::pipeline_consumer_wait_prior<stages - 1>(pipe);
    out[b * threads] = tile[b % stages][threadIdx.x];
  }
}

extern "C" __global__ void hand_thread_stages(int4* out, const int4* in, int batches) {
  __shared__ int4 tile[stages][threads];
  in += threadIdx.x, out += threadIdx.x;
  const auto shared = [&](int s) {
    return static_cast<unsigned>(__cvta_generic_to_shared(&tile[s][threadIdx.x]));
  };
  const auto global = [&](int b) { return __cvta_generic_to_global(in + b * threads); };
  for (int s = 0; s < stages - 1; ++s) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(s)), "l"(global(s))
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int b = 0; b < batches; ++b) {
    const int next = b + stages - 1;
    if (next < batches)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(next % stages)),
                   "l"(global(next))
                   : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
    out[b * threads] = tile[b % stages][threadIdx.x];
  }
}

// Producers and consumers of a block, which synchronise through two mbarriers a stage.
extern "C" __global__ void library_block_stages(int4* out, const int4* in, int batches) {
  __shared__ int4 tile[stages][threads];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, stages> state;
  struct {
    static __device__ unsigned thread_rank() { return threadIdx.x; }
    static __device__ constexpr unsigned size() { return threads; }
    static __device__ void sync() { __syncthreads(); }
  } block;
  auto pipe = inflight::make_pipeline(block, &state);
  in += threadIdx.x, out += threadIdx.x;
  for (int b = 0; b < batches; ++b) {
    pipe.producer_acquire();
    inflight::cp_async<16>(&tile[pipe.producer_stage()][threadIdx.x], in + b * threads);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[b * threads] = tile[pipe.consumer_stage()][threads - 1 - threadIdx.x];
    pipe.consumer_release();
  }
}

extern "C" __global__ void hand_block_stages(int4* out, const int4* in, int batches) {
  __shared__ int4 tile[stages][threads];
  __shared__ unsigned long long bars[2 * stages];
  const auto shared = [](const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
  };
  const unsigned full = shared(bars), empty = full + 8 * stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(full + 8 * s), "r"(threads)
                   : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(empty + 8 * s), "r"(threads)
                   : "memory");
    }
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  __syncthreads();
  const auto wait = [](unsigned bar, unsigned parity) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{ .reg .pred p;\n"
        "more: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
        "@!p bra more; }" ::"r"(bar),
        "r"(parity)
        : "memory");
#else
    asm volatile(
        "{ .reg .pred p;\n"
        "more: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n"
        "@!p bra more; }" ::"r"(bar),
        "r"(parity)
        : "memory");
#endif
  };
  in += threadIdx.x, out += threadIdx.x;
  int head = 0, tail = 0;
  unsigned head_parity = 0, tail_parity = 0;
  for (int b = 0; b < batches; ++b) {
    wait(empty + 8 * head, head_parity ^ 1);
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(&tile[head][threadIdx.x])),
        "l"(__cvta_generic_to_global(in + b * threads))
        : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(full + 8 * head)
                 : "memory");
    if (++head == stages) head = 0, head_parity ^= 1;
    wait(full + 8 * tail, tail_parity);
    out[b * threads] = tile[tail][threads - 1 - threadIdx.x];
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(token)
                 : "r"(empty + 8 * tail)
                 : "memory");
    if (++tail == stages) tail = 0, tail_parity ^= 1;
  }
}
