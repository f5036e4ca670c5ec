// 64- and 128-bit integers: products, quotients, remainders, shifts, carries, signs.
#include "tests/kernels/kernel_test.cuh"

using u64 = unsigned long long;
using i64 = long long;

__global__ void run(u64* out, const u64* in) {
  int t = threadIdx.x;
  u64 a = in[t], b = in[(t + 1) % 64], c = b >> (a & 63) | 1;
  i64 sa = i64(a), sb = i64(b), sc = i64(b) >> (a & 63) | 1;
  out += t;
  *out = a + b;
  *(out += 64) = a - b;
  *(out += 64) = a * b;
  *(out += 64) = a / c;
  *(out += 64) = a % c;
  *(out += 64) = sa / sc;
  *(out += 64) = sa % sc;
  *(out += 64) = a << (b & 63);
  *(out += 64) = a >> (b & 63);
  *(out += 64) = sa >> (b & 63);
  *(out += 64) = __umul64hi(a, b);
  *(out += 64) = __mul64hi(sa, sb);
  *(out += 64) = (sa < sb) + 2 * (a < b) + 4 * (a == b) + 8 * (sa >= 0);
  *(out += 64) = a & ~b | b ^ a;
  *(out += 64) = sa < sb ? sa : sb;
  *(out += 64) = a > b ? a : b;
  unsigned __int128 wide = (unsigned __int128)a * b + c;
  *(out += 64) = u64(wide);
  *(out += 64) = u64(wide >> 64);
  *(out += 64) = u64(wide / c);
  *(out += 64) = u64(wide % (c | 1ull << 50));
  *(out += 64) = u64((wide << (a & 127)) >> 64);
  __int128 minus = -(__int128)a * sb;
  *(out += 64) = u64(minus >> 70);
  *(out += 64) = u64(minus / sc);
  *(out += 64) = minus < 0;
}

__global__ void carries(unsigned* out, const unsigned* in) {
  int t = threadIdx.x;
  unsigned a = in[t], b = in[(t + 3) % 64], lo, mid, hi;
  asm("add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %4, %5; addc.u32 %2, 0, 0;"
      : "=r"(lo), "=r"(mid), "=r"(hi)
      : "r"(a), "r"(b), "r"(~a));
  out[t] = lo ^ mid * 3 ^ hi << 20;
  asm("sub.cc.u32 %0, %3, %4; subc.cc.u32 %1, %4, %5; subc.u32 %2, 0, 0;"
      : "=r"(lo), "=r"(mid), "=r"(hi)
      : "r"(a), "r"(b), "r"(a));
  out[64 + t] = lo ^ mid * 3 ^ hi << 20;
  asm("mad.lo.cc.u32 %0, %3, %4, %5; madc.hi.cc.u32 %1, %3, %4, %5; addc.u32 %2, %3, 0;"
      : "=r"(lo), "=r"(mid), "=r"(hi)
      : "r"(a), "r"(b), "r"(a ^ b));
  out[128 + t] = lo ^ mid * 3 ^ hi;
}

int main() {
  std::vector<u64> in(64);
  Random random(11);
  for (u64& v : in) v = random.next() >> random.next32() % 60;
  in[5] = ~0ull, in[6] = 1ull << 63, in[7] = 0;
  std::vector<unsigned> narrow(in.begin(), in.end());
  narrow[9] = ~0u, narrow[10] = 0;
  Buffer<u64> source(in), a(64 * 24);
  Buffer<unsigned> words(narrow), b(192);
  run<<<1, 64>>>(a, source);
  carries<<<1, 64>>>(b, words);
  print("run", a.read(), 8);
  print("carries", b.read(), 8);
}
