// fma.oob: a product with an element that a tensor copy filled in, out of bounds, gives zero; any
// other NaN stays one.
#include "tests/kernels/kernel_test.cuh"

constexpr unsigned short outside = 0x7ff7;

__global__ void all(const unsigned short* v, int count, unsigned* out) {
  for (int i = threadIdx.x; i < count * count; i += blockDim.x) {
    const unsigned short a = v[i / count], b = v[i % count], c = 0x3c00, d = 0xbf80;
    unsigned short half, relu, bf16, bf16_relu;
    unsigned pair, pair_relu;
    asm("fma.rn.oob.f16 %0, %1, %2, %3;" : "=h"(half) : "h"(a), "h"(b), "h"(c));
    asm("fma.rn.oob.relu.f16 %0, %1, %2, %3;" : "=h"(relu) : "h"(a), "h"(b), "h"(c));
    asm("fma.rn.oob.bf16 %0, %1, %2, %3;" : "=h"(bf16) : "h"(a), "h"(b), "h"(d));
    asm("fma.rn.oob.relu.bf16 %0, %1, %2, %3;" : "=h"(bf16_relu) : "h"(a), "h"(b), "h"(d));
    asm("fma.rn.oob.f16x2 %0, %1, %2, %3;"
        : "=r"(pair)
        : "r"(a | 0x40000000u), "r"(b | 0x40000000u), "r"(c * 0x10001u));
    asm("fma.rn.oob.relu.bf16x2 %0, %1, %2, %3;"
        : "=r"(pair_relu)
        : "r"(a | 0x40000000u), "r"(b | 0x40000000u), "r"(d * 0x10001u));
    unsigned* o = out + 6 * i;
    o[0] = half, o[1] = relu, o[2] = bf16, o[3] = bf16_relu, o[4] = pair, o[5] = pair_relu;
  }
}

int main() {
  const std::vector<unsigned short> values{0x0000,  0x3c00, 0xc000, 0x7c00,
                                           outside, 0xfff7, 0x7fff, 0x7e00};
  const int count = int(values.size());
  Buffer<unsigned short> in(count);
  Buffer<unsigned> out(6 * count * count);
  CHECK(cudaMemcpy(in.device, values.data(), count * 2, cudaMemcpyHostToDevice));
  all<<<1, 64>>>(in.device, count, out.device);
  CHECK(cudaMemcpy(out.host.data(), out.device, out.host.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < count * count; ++i) {
    std::printf("%04x %04x:", values[i / count], values[i % count]);
    for (int k = 0; k < 6; ++k) std::printf(" %x", out.host[6 * i + k]);
    std::printf("\n");
  }
}
