// tcgen05.mma with a scale for each block of k: the kinds mxf8f6f4, mxf4 and mxf4nvf4. The scales
// come from shared memory by tcgen05.cp, in the order that cuBLAS and CUTLASS have. Values are such
// that the host's sums are exact.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// async: late early shuffled:1
// software-only
#include <cmath>

#include "kernel_test.cuh"
#include "part/tcgen05.cuh"

enum Form { mx8, mx4, nv4_2x, nv4_4x };
constexpr const char* forms[] = {"mxf8f6f4", "mxf4", "mxf4nvf4 by 32", "mxf4nvf4 by 16"};
constexpr int m = 128, n = 128, steps = 4, row_bytes = steps * 32;
constexpr int chunk = 512;  // bytes of the scales of 128 rows and 4 blocks

struct Plan {
  Form form;
  std::uint32_t descriptor;
  std::uint64_t a[steps], b[steps];
};

#define MMA(FORM)                                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1." FORM     \
               " [%0], %1, %2, %3, [%5], [%6], p;\n}" ::"r"(d),                              \
               "l"(a), "l"(b), "r"(descriptor), "r"(accumulates), "r"(scale_a), "r"(scale_b) \
               : "memory")
__device__ void multiply(Form form, std::uint32_t d, std::uint64_t a, std::uint64_t b,
                         std::uint32_t descriptor, std::uint32_t scale_a, std::uint32_t scale_b,
                         int accumulates) {
  if (form == mx8) MMA("kind::mxf8f6f4.block_scale");
  if (form == mx4) MMA("kind::mxf4.block_scale.block32");
  if (form == nv4_2x) MMA("kind::mxf4nvf4.block_scale.scale_vec::2X");
  if (form == nv4_4x) MMA("kind::mxf4nvf4.block_scale.block16");
}

__global__ void product(Plan p, const unsigned char* a, const unsigned char* b,
                        const unsigned char* scales_a, const unsigned char* scales_b,
                        float* result) {
  extern __shared__ __align__(1024) unsigned char raw[];
  unsigned char *const of_b = raw + m * row_bytes, *const sa = of_b + n * row_bytes,
                       *const sb = sa + steps * chunk;
  auto* const bar = reinterpret_cast<std::uint64_t*>(sb + steps * chunk);
  auto* const address = reinterpret_cast<std::uint32_t*>(bar + 1);
  const int t = threadIdx.x;
  for (int i = t; i < m * row_bytes; i += 128) raw[i] = a[i], of_b[i] = b[i];
  for (int i = t; i < steps * chunk; i += 128) sa[i] = scales_a[i], sb[i] = scales_b[i];
  if (t < 32) alloc(address, 256);
  if (t == 0) init(bar, 1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const std::uint32_t d = *address, at_a = d + 128, at_b = d + 128 + 16, lanes = (t & ~31u) << 16;
  if (t == 0) {
    for (int i = 0; i < steps; ++i) {
      const std::uint64_t rest = 8ull << 16 | 8ull << 32 | 1ull << 46;
      asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(at_a + 4 * i),
                   "l"(rest | shared_address(sa + i * chunk) >> 4));
      asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(at_b + 4 * i),
                   "l"(rest | shared_address(sb + i * chunk) >> 4));
    }
    for (int i = 0; i < steps; ++i) {
      const int blocks = p.form == mx8      ? 1
                         : p.form == nv4_4x ? 4
                                            : 2,
                first = i * blocks, id = first % 4;
      // As CuTe does, the addresses of the scales have their id in the upper two bits.
      multiply(p.form, d, p.a[i] + (shared_address(raw) >> 4), p.b[i] + (shared_address(of_b) >> 4),
               p.descriptor | id << 4 | id << 29, (at_a + first / 4 * 4) | id << 30,
               (at_b + first / 4 * 4) | id << 30, i > 0);
    }
    commit(bar);
  }
  wait(bar, 0);
  fence_after();
  for (int i = 0; i < n; ++i) result[i * m + t] = __uint_as_float(load_column(d + lanes + i));
  wait_loads();
  __syncthreads();
  if (t < 32) dealloc(d, 256);
}

unsigned random_state = 7;
int below(int count) {
  random_state = random_state * 1664525u + 1013904223u;
  return static_cast<int>((random_state >> 8) % static_cast<unsigned>(count));
}
constexpr double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

int main() {
  CHECK(cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  for (const Form form : {mx8, mx4, nv4_2x, nv4_4x})
    for (const bool exponents : {true, false}) {
      if (!exponents && form != nv4_4x) continue;
      const bool four = form != mx8;
      const int step = four ? 64 : 32, k = steps * step;
      const int blocks = form == mx8 ? 1 : form == nv4_4x ? 4 : 2, in_block = step / blocks;
      const Layout layout{128, false, m, row_bytes, 1};
      std::vector<unsigned char> image_a(m * row_bytes), image_b(n * row_bytes),
          scales_a(steps * chunk), scales_b(steps * chunk);
      std::vector<double> a(m * k), b(n * k), factor_a(m * k / in_block),
          factor_b(n * k / in_block);
      const auto fill = [&](std::vector<double>& values, std::vector<unsigned char>& image,
                            std::vector<double>& factors, std::vector<unsigned char>& scales) {
        for (int row = 0; row < m; ++row) {
          for (int i = 0; i < k; ++i) {
            const int bits = below(16);
            values[row * k + i] = e2m1[bits & 7] * (bits & 8 ? -1 : 1);
            if (four) {
              image[layout.place(row, i / 2)] |= bits << i % 2 * 4;
            } else {  // as e4m3
              constexpr unsigned char codes[] = {0, 0x30, 0x38, 0x3c, 0x40, 0x44, 0x48, 0x4c};
              image[layout.place(row, i)] = codes[bits & 7] | (bits & 8) << 4;
            }
          }
          for (int i = 0; i < k / in_block; ++i) {
            const int power = below(4) - 1;
            const bool half = !exponents && below(2);
            factors[row * (k / in_block) + i] = std::ldexp(half ? 1.5 : 1, power);
            scales[i / 4 * chunk + row % 32 * 16 + row / 32 * 4 + i % 4] =
                exponents ? 127 + power : (power + 7) << 3 | half << 2;
          }
        }
      };
      fill(a, image_a, factor_a, scales_a);
      fill(b, image_b, factor_b, scales_b);
      Plan p{form};
      p.descriptor = (four ? 1 << 7 | 1 << 10 : 0) | n / 8 << 17 | exponents << 23 | m / 128 << 27;
      for (int s = 0; s < steps; ++s) p.a[s] = p.b[s] = layout.descriptor(s * 32);
      Buffer<unsigned char> on_a(image_a), on_b(image_b), on_sa(scales_a), on_sb(scales_b);
      Buffer<float> result(m * n);
      product<<<1, 128, (m + n) * row_bytes + 2 * steps * chunk + 64>>>(p, on_a, on_b, on_sa, on_sb,
                                                                        result);
      const auto& got = result.read();
      int wrong = 0;
      for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
          double sum = 0;
          for (int i = 0; i < k; ++i)
            sum += a[row * k + i] * b[column * k + i] * factor_a[(row * k + i) / in_block] *
                   factor_b[(column * k + i) / in_block];
          wrong += got[column * m + row] != static_cast<float>(sum);
        }
      std::printf("%s, scales %s: %d of %d wrong\n", forms[form], exponents ? "ue8m0" : "ue4m3",
                  wrong, m * n);
    }
}
