// arch: sm_90a
// flags: -DNDEBUG
// A stream through bulk copies, one thread producing: the library's form against hand-written code.
// more: bulk_stages SASS 8: register moves between the four copies of the unrolled loop of fetches;
// and set-up stores the number of threads, which quit() counts
// more: bulk_stages integer 6: the same
// more: bulk_stages instructions 1: the store
#include <inflight/pipeline.cuh>

namespace {

constexpr int stages = 4, threads = 128, count = 1024;

}  // namespace

extern "C" __global__ void library_bulk_stages(int* out, const int* in, int batches) {
  alignas(128) __shared__ int tile[stages][count];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, stages> state;
  struct {
    static __device__ unsigned thread_rank() { return threadIdx.x; }
    static __device__ constexpr unsigned size() { return threads; }
    static __device__ void sync() { __syncthreads(); }
  } block;
  auto pipe = inflight::make_pipeline<inflight::transaction_bytes>(block, &state);
  for (int done = 0, fetched = 0; done < batches; ++done) {
    if (threadIdx.x == 0)
      for (; fetched < batches && fetched < done + stages; ++fetched) {
        pipe.producer_acquire();
        pipe.copies().load(tile[pipe.producer_stage()], in + fetched * count, sizeof tile[0]);
        pipe.producer_commit();
      }
    pipe.consumer_wait();
    for (int i = threadIdx.x; i < count; i += threads)
      out[done * count + i] = tile[pipe.consumer_stage()][i];
    pipe.consumer_release();
  }
}

extern "C" __global__ void hand_bulk_stages(int* out, const int* in, int batches) {
  alignas(128) __shared__ int tile[stages][count];
  __shared__ unsigned long long bars[2 * stages];
  const auto shared = [](const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
  };
  const unsigned full = shared(bars), empty = full + 8 * stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(full + 8 * s), "r"(1) : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(empty + 8 * s), "r"(threads)
                   : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const auto wait = [](unsigned bar, unsigned parity) {
    asm volatile(
        "{ .reg .pred p;\n"
        "more: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
        "@!p bra more; }" ::"r"(bar),
        "r"(parity)
        : "memory");
  };
  int head = 0, tail = 0;
  unsigned head_parity = 0, tail_parity = 0;
  unsigned long long token;
  for (int done = 0, fetched = 0; done < batches; ++done) {
    if (threadIdx.x == 0)
      for (; fetched < batches && fetched < done + stages; ++fetched) {
        const unsigned bar = full + 8 * head;
        wait(empty + 8 * head, head_parity ^ 1);
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(shared(tile[head])),
            "l"(__cvta_generic_to_global(in + fetched * count)), "r"(int(sizeof tile[0])), "r"(bar)
            : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                     : "=l"(token)
                     : "r"(bar), "r"(int(sizeof tile[0]))
                     : "memory");
        if (++head == stages) head = 0, head_parity ^= 1;
      }
    wait(full + 8 * tail, tail_parity);
    for (int i = threadIdx.x; i < count; i += threads) out[done * count + i] = tile[tail][i];
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(token)
                 : "r"(empty + 8 * tail)
                 : "memory");
    if (++tail == stages) tail = 0, tail_parity ^= 1;
  }
}
