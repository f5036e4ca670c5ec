// arch: sm_90a
// memcpy_async with a barrier and a promise of 16 bytes, which is one bulk copy, and single values
// to another block: the library's forms against hand-written code.
// more: to_block registers 2: the same instructions, which ptxas puts into another order
#include <inflight/copy.cuh>
#include <inflight/groups.cuh>
#include <inflight/memcpy_async.cuh>

namespace {

constexpr int threads = 128;
constexpr unsigned bytes = 4096;

}  // namespace

extern "C" __global__ void library_one_copy(int4* out, const int4* in) {
  __shared__ int4 tile[bytes / 16];
  __shared__ inflight::barrier<> done;
  if (threadIdx.x == 0) done.init(threads);
  __syncthreads();
  inflight::memcpy_async(inflight::this_thread_block(), tile, in,
                         inflight::aligned_size_t<16>(bytes), done);
  done.wait(done.arrive());
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void hand_one_copy(int4* out, const int4* in) {
  __shared__ int4 tile[bytes / 16];
  __shared__ unsigned long long done;
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(&done));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(threads) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z) == 0) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(address),
                 "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))),
        "l"(__cvta_generic_to_global(in)), "r"(bytes), "r"(address)
        : "memory");
  }
  unsigned long long token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(address) : "memory");
  asm volatile(
      "{ .reg .pred p;\n"
      "again: mbarrier.try_wait.shared.b64 p, [%0], %1;\n"
      "@!p bra again; }" ::"r"(address),
      "l"(token)
      : "memory");
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) library_to_block(int* out) {
  __shared__ int there[threads];
  __shared__ inflight::barrier<> done;
  if (threadIdx.x == 0) {
    done.init(1);
    inflight::transaction incoming(done);
    incoming.expect(sizeof there);
    incoming.arrive();
  }
  inflight::ptx::cluster_arrive();
  inflight::ptx::cluster_wait();
  inflight::store_to_block(&there[threadIdx.x], static_cast<int>(threadIdx.x),
                           inflight::ptx::cluster_block_rank() ^ 1, done);
  done.wait_parity(0);
  out[blockIdx.x * threads + threadIdx.x] = there[threads - 1 - threadIdx.x];
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) hand_to_block(int* out) {
  __shared__ int there[threads];
  __shared__ unsigned long long done;
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(&done));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(1) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    [[maybe_unused]] unsigned long long token;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                 : "=l"(token)
                 : "r"(address), "r"(static_cast<unsigned>(sizeof there))
                 : "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  unsigned rank, to, mbarrier;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const auto mine = static_cast<unsigned>(__cvta_generic_to_shared(&there[threadIdx.x]));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(mine), "r"(rank ^ 1));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mbarrier) : "r"(address), "r"(rank ^ 1));
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
      "r"(threadIdx.x), "r"(mbarrier)
      : "memory");
  asm volatile(
      "{ .reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
      "@!p bra again; }" ::"r"(address),
      "r"(0)
      : "memory");
  out[blockIdx.x * threads + threadIdx.x] = there[threads - 1 - threadIdx.x];
}
