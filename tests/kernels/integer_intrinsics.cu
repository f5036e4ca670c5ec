// Integer intrinsics besides arithmetic: bits, bytes, funnel shifts, dot products, saturation.
#include "tests/kernels/kernel_test.cuh"

__global__ void run(unsigned* out, const unsigned* in) {
  int t = threadIdx.x;
  unsigned a = in[t], b = in[(t + 1) % 64], c = in[(t + 2) % 64];
  unsigned long long w = (unsigned long long)a << 32 | b;
  out += t;
  auto put = [&](unsigned v) {
    *out = v;
    out += 64;
  };
  put(__clz(a));
  put(__clzll(w));
  put(__ffs(a));
  put(__ffsll(w));
  put(__popc(a));
  put(__popcll(w));
  put(__brev(a));
  put(unsigned(__brevll(w) >> 16));
  put(__byte_perm(a, b, c));
  put(__byte_perm(a, b, 0x4321));
  put(__funnelshift_l(a, b, c));
  put(__funnelshift_r(a, b, c));
  put(__funnelshift_lc(a, b, c & 63));
  put(__funnelshift_rc(a, b, c & 63));
  put(__dp4a(int(a), int(b), int(c)));
  put(__dp4a(a, b, c));
  put(__dp2a_lo(int(a), int(b), int(c)));
  put(__dp2a_hi(a, b, c));
  put(__mulhi(int(a), int(b)));
  put(__umulhi(a, b));
  put(__mul24(a, b));
  put(__umul24(a, b));
  put(__sad(int(a), int(b), c));
  put(__usad(a, b, c));
  put(__hadd(int(a), int(b)));
  put(__rhadd(int(a), int(b)));
  put(__uhadd(a, b));
  put(__urhadd(a, b));
  put(__fns(a | 1, t % 32, 1 + t % 3));
  put(__vadd4(a, b));
  put(__vabsdiffu4(a, b));
  put(__vmaxs2(a, b));
  put(__vcmpgtu4(a, b));
  put(__viaddmax_s32(int(a), int(b), int(c)));
  put(__vimax3_u32(a, b, c));
  int shifted, field, set, found, logic;
  asm("shl.b32 %0, %1, %2;" : "=r"(shifted) : "r"(a), "r"(b & 63));
  put(shifted);
  asm("shr.s32 %0, %1, %2;" : "=r"(shifted) : "r"(a), "r"(b & 63));
  put(shifted);
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(field) : "r"(a), "r"(b & 63), "r"(c & 63));
  put(field);
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(a), "r"(b & 31), "r"(c & 31));
  put(field);
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(set) : "r"(a), "r"(b), "r"(c & 31), "r"(a & 31));
  put(set);
  asm("bfind.s32 %0, %1;" : "=r"(found) : "r"(a));
  put(found);
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(found) : "r"(a));
  put(found);
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(logic) : "r"(a), "r"(b), "r"(c));
  put(logic);
  asm("lop3.b32 %0, %1, %2, %3, 0xe2;" : "=r"(logic) : "r"(a), "r"(b), "r"(c));
  put(logic);
  asm("add.sat.s32 %0, %1, %2;" : "=r"(set) : "r"(a), "r"(b));
  put(set);
  asm("sub.sat.s32 %0, %1, %2;" : "=r"(set) : "r"(a), "r"(b));
  put(set);
  asm("szext.wrap.s32 %0, %1, %2;" : "=r"(set) : "r"(a), "r"(b & 31));
  put(set);
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(set) : "r"(a & 31), "r"(b & 31));
  put(set);
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(set) : "r"(a), "r"(b), "r"(c));
  put(set);
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(set) : "r"(a), "r"(b), "r"(c));
  put(set);
  put(int(a) / int(b | 1));
  put(int(a) % int(b | 1));
  put(a / (b >> 20 | 1));
  put(a % (b >> 20 | 1));
  put(short(a) * short(b));
  put((unsigned char)a * (signed char)b);
  put(abs(int(a)));
}

int main() {
  std::vector<unsigned> in(64);
  Random random(13);
  for (unsigned& v : in) v = random.next32() >> random.next32() % 28;
  in[3] = 0, in[4] = ~0u, in[5] = 1u << 31, in[6] = 0x7fffffff;
  Buffer<unsigned> source(in), out(64 * 57);
  run<<<1, 64>>>(out, source);
  out.read();
  for (int i = 0; i < 57; ++i)
    print(("row " + std::to_string(i)).c_str(),
          std::vector<unsigned>(out.host.begin() + i * 64, out.host.begin() + i * 64 + 64), 64);
}
