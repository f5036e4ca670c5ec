// The 64 bits that createpolicy makes: L2 eviction priorities, fractions, and ranges of addresses.
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
#define RANGE(text, primary, total)                             \
  {                                                             \
    unsigned long long bits;                                    \
    asm volatile("createpolicy.range" text " %0, [%1], %2, %3;" \
                 : "=l"(bits)                                   \
                 : "l"(base), "r"(primary), "r"(total));        \
    out[n++] = bits;                                            \
  }

__global__ void policies(unsigned long long* out, int* count, unsigned long long base) {
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
  RANGE(".L2::evict_last.L2::evict_first.b64", 0x100000u, 0x200000u)
  RANGE(".L2::evict_first.L2::evict_unchanged.b64", 0x100000u, 0x100000u)
  *count = n;
}

}  // namespace

int main() {
  Buffer<unsigned long long> out(most);
  Buffer<int> count(1);
  policies<<<1, 1>>>(out, count, 0x7000000000ull);
  out.read();
  for (int i = 0; i < count.read()[0]; ++i) std::printf("%016llx\n", out.host[i]);
}
