// arch: compute_90a
// flags: -code=sm_90a,compute_90a
// async: late early shuffled:1
// Forms that PTX 8.6 and 8.7 added for sm_90 too: relaxed mbarrier operations with one-sided
// fences, fences restricted to shared memory, bulk copies to .shared::cta, fp8 products of k16 and
// with f16 accumulators.
#include "tests/kernels/kernel_test.cuh"

namespace {

using u32 = unsigned;
using u64 = unsigned long long;

__device__ u32 shared_address(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}

// Threads publish a value by a release fence and a relaxed arrival. They read a neighbour's after a
// relaxed wait and an acquire fence.
__global__ void relaxed(u32* out) {
  __shared__ u32 values[64];
  __shared__ alignas(8) u64 bar;
  const u32 at = shared_address(&bar), t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(at) : "memory");
  __syncthreads();
  u32 sum = 0;
  for (u32 phase = 0; phase < 4; ++phase) {
    values[t] = 100 * phase + t;
    asm volatile(
        "{ .reg .pred p; .reg .b64 s;\n"
        "fence.release.cta;\n"
        "mbarrier.arrive.relaxed.cta.shared::cta.b64 s, [%0];\n"
        "again: mbarrier.try_wait.relaxed.cta.shared::cta.b64 p, [%0], s;\n"
        "@!p bra again;\n"
        "fence.acquire.cta; }" ::"r"(at)
        : "memory");
    sum += values[(t + 1) % 64];
    __syncthreads();
  }
  out[t] = sum;
}

// The answers of tests, of arrivals with transactions and of dropped threads.
__global__ void tests(u32* out) {
  __shared__ alignas(8) u64 bar;
  const u32 at = shared_address(&bar);
  asm volatile(
      "{ .reg .pred p; .reg .b64 s;\n"
      "mbarrier.init.shared::cta.b64 [%4], 3;\n"
      "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 s, [%4], 16;\n"
      "mbarrier.arrive_drop.relaxed.cta.shared::cta.b64 _, [%4];\n"
      "mbarrier.test_wait.relaxed.cta.shared::cta.b64 p, [%4], s; selp.u32 %0, 1, 0, p;\n"
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%4], 8;\n"
      "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%4], 24;\n"
      "mbarrier.test_wait.parity.relaxed.cta.shared::cta.b64 p, [%4], 0; selp.u32 %1, 1, 0, p;\n"
      "mbarrier.arrive.release.cta.shared::cta.b64 _, [%4];\n"
      "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%4], 0; selp.u32 %2, 1, 0, p;\n"
      "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 s, [%4], 1;\n"
      "mbarrier.pending_count.b64 %3, s; }"
      : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
      : "r"(at)
      : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) copies(const u32* in, u32* out) {
  __shared__ alignas(16) u32 tile[64];
  __shared__ alignas(8) u64 bar;
  const u32 t = threadIdx.x, at = shared_address(&bar);
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], 256;" ::"r"(at)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::
            "r"(shared_address(tile)),
        "l"(in + 64 * blockIdx.x), "r"(at)
        : "memory");
  }
  asm volatile(
      "{ .reg .pred p;\nagain: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], 0;\n"
      "@!p bra again; }" ::"r"(at)
      : "memory");
  out[64 * blockIdx.x + t] = tile[t] + 1;
  asm volatile("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::
                   : "memory");
  asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::
                   : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// Factors 1, 2 and 0.5 and their negatives, so that all sums are exact.
__device__ u32 bytes_of(u32 seed, bool e5m2) {
  u32 word = 0;
  for (int i = 0; i < 4; ++i) {
    seed = seed * 1664525 + 1013904223;
    const u32 kind = seed >> 24;
    const u32 one = e5m2 ? 0x3c : 0x38, step = e5m2 ? 4 : 8;
    word |= (one + (kind % 3) * step - step | (kind & 128)) << 8 * i;
  }
  return word;
}
__global__ void products(u32* out) {
  const u32 t = threadIdx.x;
  u32 a[4], b[2], d[4] = {0, 0, 0, 0}, h[4] = {0x3c003c00, 0, 0x40004000, 0};
  for (int i = 0; i < 4; ++i) a[i] = bytes_of(t * 7 + i, false);
  for (int i = 0; i < 2; ++i) b[i] = bytes_of(t * 5 + i + 100, true);
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
      : "+r"(h[0]), "+r"(h[1])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%0, %1};"
      : "+r"(h[2]), "+r"(h[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; ++i)
    out[14 * t + i] = a[i], out[14 * t + 6 + i] = d[i], out[14 * t + 10 + i] = h[i];
  out[14 * t + 4] = b[0], out[14 * t + 5] = b[1];
}

float half(u32 h) {
  const int e = h >> 10 & 31, f = h & 1023;
  float m = float(e ? f + 1024 : f);
  for (int i = e ? e : 1; i < 25; ++i) m /= 2;
  for (int i = e; i > 25; --i) m *= 2;
  return h >> 15 ? -m : m;
}
float factor(u32 byte, bool e5m2) {
  const int exponent = e5m2 ? int(byte >> 2 & 31) - 15 : int(byte >> 3 & 15) - 7;
  const float m = exponent < 0 ? 0.5f : exponent > 0 ? 2.f : 1.f;
  return byte & 128 ? -m : m;
}

}  // namespace

int main() {
  Buffer<u32> out(512);
  relaxed<<<1, 64>>>(out);
  out.read();
  std::printf("relaxed: %u %u %u\n", out.host[0], out.host[1], out.host[63]);
  tests<<<1, 1>>>(out);
  out.read();
  std::printf("tests: %u %u %u, %u pending\n", out.host[0], out.host[1], out.host[2], out.host[3]);
  std::vector<u32> values(128);
  for (u32 i = 0; i < 128; ++i) values[i] = 3 * i;
  Buffer<u32> in(values);
  copies<<<2, 64>>>(in, out);
  out.read();
  std::printf("copies: %u %u %u\n", out.host[0], out.host[64], out.host[127]);
  products<<<1, 32>>>(out);
  out.read();
  int wrong[3] = {};
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      const auto a = [&](int k) {
        const u32 word = out.host[14 * (row % 8 * 4 + k % 16 / 4) + row / 8 + 2 * (k / 16)];
        return factor(word >> 8 * (k % 4) & 255, false);
      };
      const auto b = [&](int k) {
        return factor(out.host[14 * (column * 4 + k % 16 / 4) + 4 + k / 16] >> 8 * (k % 4) & 255,
                      true);
      };
      float sum = 0, all = 0;
      for (int k = 0; k < 32; ++k) (k < 16 ? sum : all) += a(k) * b(k);
      all += sum;
      const u32* lane = &out.host[14 * (row % 8 * 4 + column / 2)];
      float d;
      std::memcpy(&d, lane + 6 + row / 8 * 2 + column % 2, 4);
      wrong[0] += d != sum;
      wrong[1] += half(lane[10 + row / 8] >> 16 * (column % 2) & 0xffff) != sum + (row < 8 ? 1 : 0);
      wrong[2] += half(lane[12 + row / 8] >> 16 * (column % 2) & 0xffff) != all + (row < 8 ? 2 : 0);
    }
  std::printf("products: %d %d %d differ\n", wrong[0], wrong[1], wrong[2]);
}
