// The 64-bit policies of createpolicy.fractional for L2 eviction priorities and fractions.
#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int most = 32;

#define POLICY(text)                                        \
  {                                                         \
    unsigned long long bits;                                \
    asm volatile("createpolicy." text " %0;" : "=l"(bits)); \
    out[n++] = bits;                                        \
  }
#define FRACTION(text, value)                                                \
  {                                                                          \
    unsigned long long bits;                                                 \
    asm volatile("createpolicy." text " %0, %1;" : "=l"(bits) : "f"(value)); \
    out[n++] = bits;                                                         \
  }
__global__ void policies(unsigned long long* out, int* count) {
  int n = 0;
  POLICY("fractional.L2::evict_last.b64")
  POLICY("fractional.L2::evict_normal.b64")
  POLICY("fractional.L2::evict_first.b64")
  POLICY("fractional.L2::evict_unchanged.b64")
  FRACTION("fractional.L2::evict_last.b64", 1.0f)
  FRACTION("fractional.L2::evict_last.b64", 0.5f)
  FRACTION("fractional.L2::evict_first.b64", 0.25f)
  FRACTION("fractional.L2::evict_first.b64", 0.01f)
  FRACTION("fractional.L2::evict_last.L2::evict_first.b64", 0.5f)
  FRACTION("fractional.L2::evict_normal.L2::evict_unchanged.b64", 0.75f)
  FRACTION("fractional.L2::evict_first.L2::evict_unchanged.b64", 1.0f)
  // Fractions are whole sixteenths of the lines, and at least one.
  const float fractions[] = {0.03f, 0.0625f, 0.0626f, 0.09f, 0.0938f, 0.1f,  0.125f,
                             0.3f,  0.34f,   0.5001f, 0.53f, 0.9f,    0.97f, 0.9999f};
  for (float fraction : fractions) FRACTION("fractional.L2::evict_first.b64", fraction)
  *count = n;
}

}  // namespace

int main() {
  Buffer<unsigned long long> out(most);
  Buffer<int> count(1);
  policies<<<1, 1>>>(out, count);
  out.read();
  for (int i = 0; i < count.read()[0]; ++i) std::printf("%016llx\n", out.host[i]);
}
