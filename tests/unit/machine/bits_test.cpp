// Logic, shifts, bit fields and selection, compared with loops over bits.
#include "tests/unit/machine/arithmetic_runner.hpp"

namespace inflight::machine {
namespace {

bool bit(u64 x, int i) { return i >= 0 && i < 64 && (x >> i & 1); }

TEST(Bits, EveryTableOfLop3) {
  std::vector<Check> checks;
  for (u32 table = 0; table < 256; table += 3)
    checks.push_back({"lop3.b32 $0, $1, $2, $3, " + std::to_string(table) + ";", "rrrr", "iii",
                      [table](u64 a, u64 b, u64 c) {
                        u64 r = 0;
                        for (int i = 0; i < 32; ++i)
                          r |= u64{table >> (bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)) & 1} << i;
                        return r;
                      }});
  run_checks(checks);
}

TEST(Bits, Lop3WithAPredicate) {
  run_checks({{"{.reg .pred %p; lop3.or.b32 _|%p, $1, $2, 0, 0xc0, $3; selp.b32 $0, 1, 0, %p;}",
               "rrrp", "iip", [](u64 a, u64 b, u64 c) { return u64{u32(a & b) != 0 || c != 0}; }},
              {"{.reg .pred %p; lop3.and.b32 $0|%p, $1, $2, $1, 0x3c, $3;}", "rrrp", "iip",
               [](u64 a, u64 b, u64) { return u64{u32(a ^ b)}; }}});
}

template <int Width>
u64 shifted(u64 a, s64 left, bool sign) {
  u64 r = 0;
  for (int i = 0; i < Width; ++i) {
    const s64 from = i - left;
    r |= u64{from >= Width ? sign && bit(a, Width - 1) : from >= 0 && bit(a, int(from))} << i;
  }
  return r;
}
TEST(Bits, ShiftsPastTheWidthLeaveSignsOrZeros) {
  run_checks({
      {"shl.b16", "hhr", "is",
       [](u64 a, u64 n, u64) { return shifted<16>(a, s64(u32(n)), false); }},
      {"shl.b32", "rrr", "is",
       [](u64 a, u64 n, u64) { return shifted<32>(a, s64(u32(n)), false); }},
      {"shl.b64", "llr", "is",
       [](u64 a, u64 n, u64) { return shifted<64>(a, s64(u32(n)), false); }},
      {"shr.u16", "hhr", "is",
       [](u64 a, u64 n, u64) { return shifted<16>(a, -s64(u32(n)), false); }},
      {"shr.s16", "hhr", "is",
       [](u64 a, u64 n, u64) { return shifted<16>(a, -s64(u32(n)), true); }},
      {"shr.b32", "rrr", "is",
       [](u64 a, u64 n, u64) { return shifted<32>(a, -s64(u32(n)), false); }},
      {"shr.s32", "rrr", "is",
       [](u64 a, u64 n, u64) { return shifted<32>(a, -s64(u32(n)), true); }},
      {"shr.u64", "llr", "is",
       [](u64 a, u64 n, u64) { return shifted<64>(a, -s64(u32(n)), false); }},
      {"shr.s64", "llr", "is",
       [](u64 a, u64 n, u64) { return shifted<64>(a, -s64(u32(n)), true); }},
  });
}

u64 funnel(u64 a, u64 b, u64 n, bool left) {
  const u64 both = u64{u32(b)} << 32 | u32(a);
  return u64{
      u32(left ? shifted<64>(both, s64(n), false) >> 32 : shifted<64>(both, -s64(n), false))};
}
TEST(Bits, FunnelShifts) {
  run_checks({
      {"shf.l.wrap.b32", "rrrr", "iis",
       [](u64 a, u64 b, u64 n) { return funnel(a, b, n & 31, true); }},
      {"shf.r.wrap.b32", "rrrr", "iis",
       [](u64 a, u64 b, u64 n) { return funnel(a, b, n & 31, false); }},
      {"shf.l.clamp.b32", "rrrr", "iis",
       [](u64 a, u64 b, u64 n) { return funnel(a, b, std::min<u64>(u32(n), 32), true); }},
      {"shf.r.clamp.b32", "rrrr", "iis",
       [](u64 a, u64 b, u64 n) { return funnel(a, b, std::min<u64>(u32(n), 32), false); }},
  });
}

// An H200 uses the low 8 bits of field operands with 32 bits, and all of those with 64 bits.
template <int Width>
int field_operand(u64 n) {
  return Width == 32 ? int(n & 255) : int(std::min<u64>(u32(n), Width));
}
template <int Width>
u64 extract(u64 a, u64 position, u64 length, bool is_signed) {
  const int p = field_operand<Width>(position), n = field_operand<Width>(length);
  u64 r = 0;
  const bool sign = is_signed && n > 0 && bit(a, std::min(p + n - 1, Width - 1));
  for (int i = 0; i < Width; ++i) r |= u64{i < n && p + i < Width ? bit(a, p + i) : sign} << i;
  return r;
}
template <int Width>
u64 insert(u64 a, u64 b, u64 position, u64 length) {
  const int p = field_operand<Width>(position), n = field_operand<Width>(length);
  u64 r = 0;
  for (int i = 0; i < Width; ++i) r |= u64{i >= p && i < p + n ? bit(a, i - p) : bit(b, i)} << i;
  return r;
}
TEST(Bits, Fields) {
  run_checks({
      {"bfe.u32", "rrrr", "iss",
       [](u64 a, u64 p, u64 n) { return extract<32>(u32(a), p, n, false); }},
      {"bfe.s32", "rrrr", "iss",
       [](u64 a, u64 p, u64 n) { return extract<32>(u32(a), p, n, true); }},
      {"bfe.u64", "llrr", "iss", [](u64 a, u64 p, u64 n) { return extract<64>(a, p, n, false); }},
      {"bfe.s64", "llrr", "iss", [](u64 a, u64 p, u64 n) { return extract<64>(a, p, n, true); }},
      {"bfi.b32 $0, $1, $2, $3, 7;", "rrrr", "iis",
       [](u64 a, u64 b, u64 p) { return insert<32>(a, b, p, 7); }},
      {"bfi.b64 $0, $1, $2, 33, $3;", "lllr", "iis",
       [](u64 a, u64 b, u64 n) { return insert<64>(a, b, 33, n); }},
      {"bmsk.clamp.b32", "rrr", "ss",
       [](u64 p, u64 n, u64) {
         u64 r = 0;
         for (u64 i = u32(p); i < 32 && i - u32(p) < u32(n); ++i) r |= u64{1} << i;
         return r;
       }},
      {"szext.clamp.s32", "rrr", "is",
       [](u64 a, u64 n, u64) {
         u64 r = 0;
         const int top = int(std::min<u64>(u32(n), 32)) - 1;
         for (int i = 0; i < 32; ++i) r |= u64{bit(a, std::min(i, top))} << i;
         return r;
       }},
  });
}

template <int Width>
int highest(u64 a, bool is_signed) {
  const bool fill = is_signed && bit(a, Width - 1);
  for (int i = Width - 1; i >= 0; --i)
    if (bit(a, i) != fill) return i;
  return -1;
}
TEST(Bits, Counting) {
  run_checks({
      {"popc.b32", "rr", "i", [](u64 a, u64, u64) { return u64(std::popcount(u32(a))); }},
      {"popc.b64", "rl", "i", [](u64 a, u64, u64) { return u64(std::popcount(a)); }},
      {"clz.b32", "rr", "i", [](u64 a, u64, u64) { return u64(std::countl_zero(u32(a))); }},
      {"clz.b64", "rl", "i", [](u64 a, u64, u64) { return u64(std::countl_zero(a)); }},
      {"bfind.u32", "rr", "i", [](u64 a, u64, u64) { return u64{u32(highest<32>(a, false))}; }},
      {"bfind.s64", "rl", "i", [](u64 a, u64, u64) { return u64{u32(highest<64>(a, true))}; }},
      {"bfind.shiftamt.s32", "rr", "i",
       [](u64 a, u64, u64) {
         const int h = highest<32>(a, true);
         return u64{h < 0 ? ~0u : u32(31 - h)};
       }},
      {"brev.b64", "ll", "i",
       [](u64 a, u64, u64) {
         u64 r = 0;
         for (int i = 0; i < 64; ++i) r |= u64{bit(a, i)} << (63 - i);
         return r;
       }},
      {"cnot.b16", "hh", "i", [](u64 a, u64, u64) { return u64{u16(a) == 0}; }},
  });
}

TEST(Bits, NthSetBit) {
  run_checks({{"{.reg .b32 %b; and.b32 %b, $2, 31; fns.b32 $0, $1, %b, $3;}", "rrrr", "iit",
               [](u64 mask, u64 b, u64 n) {
                 const int base = int(b & 31), offset = s32(n);
                 if (offset == 0) return u64{bit(mask, base) ? u32(base) : ~0u};
                 int seen = 0;
                 for (int i = base; i >= 0 && i<32; i += offset> 0 ? 1 : -1)
                   if (bit(mask, i) && ++seen == std::abs(offset)) return u64(i);
                 return u64{~0u};
               }}});
}

TEST(Bits, BytePermutation) {
  const auto byte = [](u64 a, u64 b, int i) {
    return u64{u8((u64{u32(b)} << 32 | u32(a)) >> 8 * (i & 7))};
  };
  run_checks({
      {"prmt.b32", "rrrr", "iii",
       [=](u64 a, u64 b, u64 c) {
         u64 r = 0;
         for (int i = 0; i < 4; ++i) {
           const int pick = int(c >> 4 * i & 15);
           const u64 x = byte(a, b, pick);
           r |= (pick & 8 ? (x & 128 ? 255 : 0) : x) << 8 * i;
         }
         return r;
       }},
      {"prmt.b32.f4e", "rrrr", "iii",
       [=](u64 a, u64 b, u64 c) {
         u64 r = 0;
         for (int i = 0; i < 4; ++i) r |= byte(a, b, int(c & 3) + i) << 8 * i;
         return r;
       }},
      {"prmt.b32.b4e", "rrrr", "iii",
       [=](u64 a, u64 b, u64 c) {
         u64 r = 0;
         for (int i = 0; i < 4; ++i) r |= byte(a, b, int(c & 3) - i) << 8 * i;
         return r;
       }},
      {"prmt.b32.rc16", "rrrr", "iii",
       [](u64 a, u64, u64 c) {
         const u64 half = c & 1 ? u64{u32(a)} >> 16 : a & 0xffff;
         return half | half << 16;
       }},
  });
}

TEST(Bits, Selection) {
  run_checks({
      {"selp.b16", "hhhp", "iip", [](u64 a, u64 b, u64 p) { return u64{u16(p ? a : b)}; }},
      {"selp.f64 $0, $1, $2, !$3;", "dddp", "ddp", [](u64 a, u64 b, u64 p) { return p ? b : a; }},
      {"slct.u64.s32", "lllr", "iii", [](u64 a, u64 b, u64 c) { return s32(c) >= 0 ? a : b; }},
      {"slct.f32.f32", "ffff", "fff",
       [](u64 a, u64 b, u64 c) { return u64{u32(f32_of(c) >= 0 ? a : b)}; }},
      {"and.pred $0, $1, !$2;", "ppp", "pp", [](u64 a, u64 b, u64) { return u64{a && !b}; }},
      {"xor.pred", "ppp", "pp", [](u64 a, u64 b, u64) { return a ^ b; }},
      {"not.pred", "pp", "p", [](u64 a, u64, u64) { return u64{!a}; }},
  });
}

}  // namespace
}  // namespace inflight::machine
