// Pairs of blocks: both allocate together, each has half of the rows of A and half of the columns
// of B, a thread of the first block multiplies, and its commit reaches both. M of 256 and of 128.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// async: late early shuffled:1
// software-only
#include <cuda_fp16.h>

#include "kernel_test.cuh"
#include "part/tcgen05.cuh"

constexpr int n = 128, k = 64, steps = k / 16;

struct Plan {
  int rows;  // of each block
  std::uint64_t a[steps], b[steps];
};

__global__ void __cluster_dims__(2, 1, 1)
    product(Plan p, const unsigned char* a, const unsigned char* b, float* result) {
  extern __shared__ __align__(1024) unsigned char raw[];
  unsigned char* const of_b = raw + 128 * 128;
  auto* const bar = reinterpret_cast<std::uint64_t*>(of_b + n / 2 * 128);
  auto* const address = reinterpret_cast<std::uint32_t*>(bar + 1);
  const int t = threadIdx.x, rank = blockIdx.x;
  const int a_bytes = p.rows * 128, b_bytes = n / 2 * 128;
  for (int i = t; i < a_bytes; i += 128) raw[i] = a[rank * a_bytes + i];
  for (int i = t; i < b_bytes; i += 128) of_b[i] = b[rank * b_bytes + i];
  if (t == 0) {
    init(bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  // Both blocks must run when they allocate together.
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (t < 32)
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(
                     shared_address(address))
                 : "memory");
  asm volatile(
      "fence.proxy.async.shared::cta;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait."
      "aligned;" ::
          : "memory");
  const std::uint32_t d = *address, lanes = (t & ~31u) << 16;
  if (rank == 0 && t == 0) {
    const std::uint32_t descriptor = 1 << 4 | n / 8 << 17 | 2 * p.rows / 16 << 24;
    for (int i = 0; i < steps; ++i)
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::2.kind::f16 [%0], %1, "
          "%2, %3, p;\n}" ::"r"(d),
          "l"(p.a[i] + (shared_address(raw) >> 4)), "l"(p.b[i] + (shared_address(of_b) >> 4)),
          "r"(descriptor), "r"(i)
          : "memory");
    asm volatile(
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[%0], %1;" ::"r"(shared_address(bar)),
        "h"(static_cast<short>(3))
        : "memory");
  }
  wait(bar, 0);
  fence_after();
  for (int i = 0; i < n; ++i)
    result[(rank * n + i) * 128 + t] = __uint_as_float(load_column(d + lanes + i));
  wait_loads();
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (t < 32) {
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 128;" ::"r"(d));
  }
}

int main() {
  CHECK(cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  for (const int rows : {128, 64}) {
    const int m = 2 * rows;
    const Layout of_a{128, false, rows, k, 2}, of_b{128, false, n / 2, k, 2};
    std::vector<int> a(m * k), b(n * k);
    std::vector<unsigned char> image_a(m * k * 2), image_b(n * k * 2);
    const auto put = [](std::vector<unsigned char>& image, const Layout& of, int line, int at,
                        int value) {
      const __half h(static_cast<float>(value));
      std::memcpy(&image[line / of.lines * of.bytes() + of.place(line % of.lines, at)], &h, 2);
    };
    for (int i = 0; i < m * k; ++i) put(image_a, of_a, i / k, i % k, a[i] = i * 7 % 11 - 5);
    for (int i = 0; i < n * k; ++i) put(image_b, of_b, i / k, i % k, b[i] = i * 5 % 13 - 6);
    Plan p{rows};
    for (int s = 0; s < steps; ++s)
      p.a[s] = of_a.descriptor(s * 16), p.b[s] = of_b.descriptor(s * 16);
    Buffer<unsigned char> on_a(image_a), on_b(image_b);
    Buffer<float> result(2 * n * 128);
    product<<<2, 128, 128 * 128 + n / 2 * 128 + 64>>>(p, on_a, on_b, result);
    const auto& got = result.read();
    int wrong = 0;
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < n; ++column) {
        int sum = 0;
        for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[column * k + i];
        // M of 128: the second half of the columns is in the lanes from 64 on.
        const int lane = rows == 128 ? row % 128 : row % 64 + (column >= n / 2 ? 64 : 0);
        const int at = rows == 128 ? column : column % (n / 2);
        wrong += got[(row / rows * n + at) * 128 + lane] != static_cast<float>(sum);
      }
    std::printf("m%dn%d: %d wrong\n", m, n, wrong);
  }
}
