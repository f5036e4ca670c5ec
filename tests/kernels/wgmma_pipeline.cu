// A warp-specialised matrix product: one warp copies tiles through a ring of stages, a warpgroup
// multiplies them with wgmma, and one thread frees each stage, since its wait holds for all four
// warps. Operands are in shared memory with each swizzle. A is there or in registers.
// arch: compute_90a
// flags: -code=sm_90a,compute_90a
#include <cuda_bf16.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int tile = 64, stages = 3, tile_bytes = tile * tile * 2;

__device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
__device__ void init(std::uint64_t* bar, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count));
}
__device__ void wait(std::uint64_t* bar, unsigned parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra "
      "again;\n}" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
}
__device__ void arrive(std::uint64_t* bar) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}
__device__ void expect(std::uint64_t* bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
               "r"(bytes)
               : "memory");
}
__device__ void copy(void* to, const void* from, unsigned bytes, std::uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(bar))
      : "memory");
}

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int allowed>
__device__ void wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(allowed) : "memory");
}

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D32 D4(0), D4(4), D4(8), D4(12), D4(16), D4(20), D4(24), D4(28)
#define LIST                                                                                    \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"

__device__ void multiply(float (&d)[32], std::uint64_t a, std::uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " LIST ", %32, %33, p, 1, 1, 0, 0;\n}"
      : D32
      : "l"(a), "l"(b), "r"(accumulate));
}
__device__ void multiply(float (&d)[32], const std::uint32_t (&a)[4], std::uint64_t b,
                         int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " LIST
      ", {%32, %33, %34, %35}, %36, p, 1, 1, 0;\n}"
      : D32
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
}

// The layout of a 64x64 tile: columns in panels as wide as the swizzle's span, each of 64 rows.
struct Layout {
  int swizzle;  // 0: none, then 32, 64, 128 bytes
  __host__ __device__ int span() const { return swizzle ? swizzle : 16; }
  __host__ __device__ int place(int row, int column) const {  // in bytes
    const int panel = column * 2 / span(), byte = column * 2 % span();
    const int at = panel * 64 * span() + row * span() + byte;
    return swizzle ? at ^ (at >> 3 & (span() - 16)) : at;
  }
  __device__ std::uint64_t descriptor(const void* tile, int k) const {
    const int panel = k * 32 / span(), byte = k * 32 % span();
    const std::uint64_t start = shared_address(tile) + panel * 64 * span() + byte;
    const std::uint64_t leading = swizzle ? 16 : 64 * 16, stride = 8 * span();
    const std::uint64_t type = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | type << 62;
  }
};

struct Ring {
  alignas(1024) char a[stages][tile_bytes];
  alignas(1024) char b[stages][tile_bytes];
  std::uint64_t full[stages], empty[stages];
};

// Panels of A and B are tiles in the order of k. C has 64 columns per block of the grid.
template <bool a_in_registers>
__global__ void __launch_bounds__(160)
    product(const char* a, const char* b, float* c, int steps, int columns, Layout layout) {
  extern __shared__ __align__(1024) char raw[];
  Ring& ring = *reinterpret_cast<Ring*>(raw);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) init(&ring.full[s], 1), init(&ring.empty[s], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warp == 4) {
    if (lane == 0)
      for (int i = 0; i < steps; ++i) {
        const int s = i % stages;
        wait(&ring.empty[s], i / stages & 1 ^ 1);
        expect(&ring.full[s], 2 * tile_bytes);
        copy(ring.a[s], a + (blockIdx.y * steps + i) * tile_bytes, tile_bytes, &ring.full[s]);
        copy(ring.b[s], b + (blockIdx.x * steps + i) * tile_bytes, tile_bytes, &ring.full[s]);
      }
    return;
  }
  float d[32];
  for (float& each : d) each = 0;
  std::uint32_t fragments[tile / 16][4];
  for (int i = 0; i < steps; ++i) {
    const int s = i % stages;
    wait(&ring.full[s], i / stages & 1);
    if (a_in_registers) {
      if (i > 0) wait_group<0>();  // read until then
      for (int k = 0; k < tile / 16; ++k)
        for (int r = 0; r < 4; ++r) {
          const int row = warp * 16 + r % 2 * 8 + lane / 4;
          const int column = k * 16 + r / 2 * 8 + lane % 4 * 2;
          fragments[k][r] =
              *reinterpret_cast<const std::uint32_t*>(ring.a[s] + layout.place(row, column));
        }
      asm volatile("bar.sync 1, 128;" ::: "memory");
    }
    fence();
    for (int k = 0; k < tile / 16; ++k) {
      const std::uint64_t of_b = layout.descriptor(ring.b[s], k);
      if constexpr (a_in_registers) multiply(d, fragments[k], of_b, i + k > 0);
      else multiply(d, layout.descriptor(ring.a[s], k), of_b, i + k > 0);
    }
    commit();
    // The previous stage has been read. One thread signals it for all four warps.
    wait_group<1>();
    if (i > 0 && threadIdx.x == 0) arrive(&ring.empty[(i - 1) % stages]);
  }
  wait_group<0>();
  for (int i = 0; i < 32; ++i) {
    const int row = static_cast<int>(blockIdx.y) * tile + warp * 16 + i / 2 % 2 * 8 + lane / 4;
    const int column = static_cast<int>(blockIdx.x) * tile + i / 4 * 8 + lane % 4 * 2 + i % 2;
    c[row * columns + column] = d[i];
  }
}

int value(int matrix, int row, int k) { return (row * 7 + k * (matrix + 3) + row * k) % 9 - 4; }

std::vector<char> packed(int matrix, int rows, int depth, Layout layout) {
  std::vector<char> all(static_cast<std::size_t>(rows) * depth * 2);
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < depth; ++k) {
      const int tile_index = row / tile * (depth / tile) + k / tile;
      const __nv_bfloat16 v = __float2bfloat16(static_cast<float>(value(matrix, row, k)));
      *reinterpret_cast<__nv_bfloat16*>(all.data() + tile_index * tile_bytes +
                                        layout.place(row % tile, k % tile)) = v;
    }
  return all;
}

template <bool a_in_registers>
void run(int rows, int columns, int depth, Layout layout) {
  const auto a = packed(0, rows, depth, layout), b = packed(1, columns, depth, layout);
  char *da, *db;
  float* dc;
  cudaMalloc(&da, a.size()), cudaMalloc(&db, b.size());
  cudaMalloc(&dc, sizeof(float) * rows * columns);
  cudaMemcpy(da, a.data(), a.size(), cudaMemcpyDefault);
  cudaMemcpy(db, b.data(), b.size(), cudaMemcpyDefault);
  cudaFuncSetAttribute(product<a_in_registers>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       sizeof(Ring));
  product<a_in_registers><<<dim3(columns / tile, rows / tile), 160, sizeof(Ring)>>>(
      da, db, dc, depth / tile, columns, layout);
  std::vector<float> c(static_cast<std::size_t>(rows) * columns);
  const cudaError_t status = cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDefault);
  int wrong = 0;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      int sum = 0;
      for (int k = 0; k < depth; ++k) sum += value(0, row, k) * value(1, column, k);
      wrong += c[row * columns + column] != static_cast<float>(sum);
    }
  std::printf("%dx%dx%d, swizzle %d, A in %s: %s, %d wrong\n", rows, columns, depth, layout.swizzle,
              a_in_registers ? "registers" : "shared memory", cudaGetErrorName(status), wrong);
  cudaFree(da), cudaFree(db), cudaFree(dc);
}

int main() {
  for (const int swizzle : {0, 32, 64, 128}) {
    run<false>(64, 64, 512, {swizzle});
    run<true>(64, 64, 512, {swizzle});
  }
  run<false>(128, 192, 640, {128});
}
