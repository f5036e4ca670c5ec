// Comparisons, selections and tests in PTX: set, setp with a second predicate, selp, slct, testp,
// cnot, copysign, predicates combined with boolean operators.
#include "tests/kernels/kernel_test.cuh"

__global__ void run(unsigned* out, const float* f, const int* n) {
  int t = threadIdx.x, a = n[t], b = n[(t + 1) % 64];
  float x = f[t], y = f[(t + 1) % 64], r;
  unsigned v;
  out += t;
  auto put = [&](unsigned u) {
    *out = u;
    out += 64;
  };
  asm("set.lt.u32.s32 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
  put(v);
  asm("set.ge.f32.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  put(__float_as_uint(r));
  asm("set.ltu.u32.f32 %0, %1, %2;" : "=r"(v) : "f"(x), "f"(y));
  put(v);
  asm("set.num.u32.f32 %0, %1, %2;" : "=r"(v) : "f"(x), "f"(y));
  put(v);
  asm("{.reg .pred p, q; setp.lt.s32 p|q, %1, %2; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2;}"
      : "=r"(v)
      : "r"(a), "r"(b));
  put(v);
  asm("{.reg .pred p, q, s; setp.gt.s32 s, %1, 0; setp.lo.and.u32 p|q, %1, %2, s; selp.u32 %0, 1, "
      "0, p; @q add.u32 %0, %0, 2;}"
      : "=r"(v)
      : "r"(a), "r"(b));
  put(v);
  asm("{.reg .pred p, s; setp.gt.s32 s, %1, 0; setp.equ.xor.f32 p, %3, %4, !s; selp.u32 %0, %1, "
      "%2, p;}"
      : "=r"(v)
      : "r"(a), "r"(b), "f"(x), "f"(y));
  put(v);
  asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(a ^ b));
  put(v);
  asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(x), "f"(y), "f"(x - 1));
  put(__float_as_uint(r) == 0x7fffffff ? 0 : __float_as_uint(r));
  asm("cnot.b32 %0, %1;" : "=r"(v) : "r"(a & 1));
  put(v);
  asm("copysign.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  put(__float_as_uint(r));
  asm("{.reg .pred p, q, s; testp.finite.f32 p, %1; testp.subnormal.f32 q, %1; "
      "testp.notanumber.f32 s, %1; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; @s add.u32 %0, %0, "
      "4;}"
      : "=r"(v)
      : "f"(x));
  put(v);
  asm("{.reg .pred p, q; setp.ne.s32 p, %1, 0; setp.gt.s32 q, %2, 3; and.pred p, p, q; not.pred q, "
      "p; xor.pred p, p, q; or.pred p, p, q; selp.u32 %0, 7, 9, p;}"
      : "=r"(v)
      : "r"(a), "r"(b));
  put(v);
  asm("{.reg .b16 h, l; mov.b32 {l, h}, %1; mov.b32 %0, {h, l};}" : "=r"(v) : "r"(a));
  put(v);
  asm("{.reg .b8 x, y, z, w; cvt.u32.u8 %0, %1;}" : "=r"(v) : "r"(a));
  put(v);
  asm("cvt.sat.u8.s32 %0, %1;" : "=r"(v) : "r"(a));
  put(v & 255);
  asm("cvt.sat.s16.s32 %0, %1;" : "=r"(v) : "r"(a));
  put(v & 0xffff);
  asm("mul24.lo.s32 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
  put(v);
  asm("sad.s32 %0, %1, %2, %1;" : "=r"(v) : "r"(a), "r"(b));
  put(v);
  asm("min.s32 %0, %1, %2; max.u32 %0, %0, %1;" : "=&r"(v) : "r"(a), "r"(b));
  put(v);
}

int main() {
  std::vector<float> f(64);
  std::vector<int> n(64);
  Random random(17);
  for (int i = 0; i < 64; ++i) {
    n[i] = int(random.next32()) >> random.next32() % 31;
    f[i] = (int(random.next32() % 2000) - 1000) / 64.0f;
  }
  unsigned odd[] = {0x7f800000, 0x7fc00000, 0xff800000, 1, 0x80000000, 0};
  std::memcpy(f.data() + 10, odd, sizeof odd);
  n[20] = n[21];
  f[30] = f[31];
  Buffer<float> floats(f);
  Buffer<int> ints(n);
  Buffer<unsigned> out(64 * 20);
  run<<<1, 64>>>(out, floats, ints);
  print("run", out.read(), 64);
}
