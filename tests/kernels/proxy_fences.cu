// arch: sm_90a
// Fences of every proxy, cache policies, hints and register counts compile, run, and do not change
// the kernel's results.
#include <cstdint>
#include <cstdio>

namespace {

constexpr int threads = 128;

__global__ void fences(unsigned* out) {
  __shared__ alignas(128) unsigned shared[threads];
  const unsigned t = threadIdx.x;
  shared[t] = 3 * t;
  asm volatile("fence.proxy.alias;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("fence.proxy.async.global;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("fence.sc.cluster;" ::: "memory");
  asm volatile("fence.acquire.cluster;" ::: "memory");
  asm volatile("fence.release.gpu;" ::: "memory");
  asm volatile("fence.proxy.tensormap::generic.release.cta;" ::: "memory");
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
  asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
  asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::
                   : "memory");
  asm volatile("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::
                   : "memory");
  __syncthreads();
  out[t] = shared[threads - 1 - t];
}

__global__ void hints(unsigned* out) {
  const unsigned t = threadIdx.x;
  std::uint64_t last, first, range, converted;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.25;" : "=l"(last));
  asm volatile("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0;" : "=l"(first));
  asm volatile(
      "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %0, [%1], 256, 512;"
      : "=l"(range)
      : "l"(out));
  asm volatile("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(converted) : "l"(0ull));
  asm volatile("" ::"l"(range), "l"(converted));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(out));
  asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(out));
  unsigned value;
  asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;"
               : "=r"(value)
               : "l"(out + t), "l"(last));
  asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(out + t), "r"(value + 1000),
               "l"(first)
               : "memory");
  __syncthreads();
  // The line is written again, so discarding its old contents does not matter.
  if (t == 0) asm volatile("discard.global.L2 [%0], 128;" ::"l"(out + threads) : "memory");
  __syncthreads();
  if (t < 32) out[threads + t] = t;
}

__global__ void __launch_bounds__(256, 1) registers(unsigned* out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    out[threadIdx.x] = threadIdx.x;
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    out[threadIdx.x] = 7 * threadIdx.x;
  }
#endif
}

void show(const char* name, const unsigned* values, int count) {
  unsigned sum = 0, weighted = 0;
  for (int i = 0; i < count; ++i) sum += values[i], weighted += values[i] * (i + 1);
  std::printf("%s: %u %u\n", name, sum, weighted);
}

}  // namespace

int main() {
  unsigned* out;
  cudaMallocManaged(&out, 4096);
  fences<<<1, threads>>>(out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  show("fences", out, threads);
  hints<<<1, threads>>>(out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  show("hints", out, threads + 32);
  registers<<<1, 256>>>(out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  show("registers", out, 256);
}
