// arch: sm_90a
// more: loop instructions 1: a move of a constant, which ptxas folds
// more: warp instructions 1: moves of zeros, which ptxas folds
// A loop of warpgroup products, whose sums are then written; and products of a warp.
#include <cuda_bf16.h>

#include <inflight/warpgroup_product.cuh>

namespace {

using tile_a = inflight::swizzled_tile<__nv_bfloat16, 64, 64, inflight::swizzle::b128>;
using tile_b = inflight::swizzled_tile<__nv_bfloat16, 64, 64, inflight::swizzle::b128>;
constexpr int stages = 4;

__device__ unsigned address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(128) library_loop(float2* out, unsigned steps) {
  __shared__ tile_a a[stages];
  __shared__ tile_b b[stages];
  inflight::warpgroup_sum<float, 64> sum;
  sum.clear();
#pragma unroll 1
  for (unsigned k = 0; k < steps; ++k) {
    inflight::multiply_async(sum, inflight::matrix_rows(a[k % stages]),
                             inflight::matrix_rows(b[k % stages]));
    inflight::products_wait<1>();
  }
  const auto& values = sum.wait();
#pragma unroll
  for (int i = 0; i < 32; i += 2)
    out[i * 64 + threadIdx.x] = {values.registers[i], values.registers[i + 1]};
}

extern "C" __global__ void __launch_bounds__(128) hand_loop(float2* out, unsigned steps) {
  __shared__ tile_a a[stages];
  __shared__ tile_b b[stages];
  float d[32];
  unsigned adds = 0;
  const auto descriptor = [](unsigned at) {
    return std::uint64_t{1} << 62 | std::uint64_t{64} << 32 | std::uint64_t{1} << 16 |
           (at & 0x3ffff) / 16;
  };
#pragma unroll 1
  for (unsigned k = 0; k < steps; ++k) {
    const std::uint64_t x = descriptor(address(&a[k % stages])),
                        y = descriptor(address(&b[k % stages]));
#pragma unroll
    for (int i = 0; i < 32; ++i) asm volatile("" : "+f"(d[i])::"memory");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      asm volatile(
          "{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16."
          "bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
          "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, "
          "1, 0, 0; }"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
            "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
            "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
            "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
            "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "l"(x + 2 * i), "l"(y + 2 * i), "r"(adds));
      adds = 1;
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < 32; ++i) asm volatile("" : "+f"(d[i])::"memory");
#pragma unroll
  for (int i = 0; i < 32; i += 2) out[i * 64 + threadIdx.x] = {d[i], d[i + 1]};
}

extern "C" __global__ void library_warp(float2* out, int row) {
  __shared__ tile_a a;
  __shared__ tile_b b;
  inflight::matrix_fragment<inflight::fragment_use::a, __nv_bfloat16, 16, 16> x;
  inflight::matrix_fragment<inflight::fragment_use::b, __nv_bfloat16, 16, 16> y;
  inflight::accumulator_fragment<float, 16, 16> sum;
  sum.fill(0);
  inflight::load_rows(x, a, row, 0);
  inflight::load_rows(y, b, 0, 16);
  inflight::multiply_add(sum, x, y);
  out[threadIdx.x] = {sum.registers[0], sum.registers[1]};
  out[threadIdx.x + 32] = {sum.registers[6], sum.registers[7]};
}

extern "C" __global__ void hand_warp(float2* out, int row) {
  __shared__ tile_a a;
  __shared__ tile_b b;
  unsigned x[4], y[4], lane;
  float d[8] = {};
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const unsigned of_a = (row + lane / 8 % 2 * 8 + lane % 8) * 128 +
                        ((lane / 16 * 16) ^ (row + lane / 8 % 2 * 8 + lane % 8) % 8 * 16);
  const unsigned of_b = (lane / 16 * 8 + lane % 8) * 128 + ((32 + lane / 8 % 2 * 16) ^ lane % 8 * 16);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(address(&a) + of_a)
               : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
               : "r"(address(&b) + of_b)
               : "memory");
#pragma unroll
  for (int n = 0; n < 2; ++n)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[4 * n]), "+f"(d[4 * n + 1]), "+f"(d[4 * n + 2]), "+f"(d[4 * n + 3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * n]), "r"(y[2 * n + 1]));
  out[threadIdx.x] = {d[0], d[1]};
  out[threadIdx.x + 32] = {d[6], d[7]};
}
