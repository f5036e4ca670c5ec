// cvt between all kinds of numbers: range, rounding direction, NaN.
#include "tests/unit/machine/exact_reference.hpp"

namespace inflight::machine {
namespace {

struct Direction {
  const char* name;
  int mode;
};
constexpr Direction directions[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// The contents of a register of 16, 32 or 64 bits after a narrower result of type T.
template <class T>
u64 in_register(T v, char letter) {
  const u64 wide = static_cast<u64>(static_cast<s64>(v));
  return letter == 'h' ? u16(wide) : letter == 'r' ? u32(wide) : wide;
}
template <class D, class S>
Check between(const char* text, const char* registers, bool saturates) {
  const char to = registers[0];
  return {text, registers, "i", [=](u64 a, u64, u64) {
            const __int128 v = static_cast<S>(a);
            const __int128 low = std::numeric_limits<D>::min(),
                           high = std::numeric_limits<D>::max();
            const __int128 kept = saturates ? std::clamp(v, low, high) : v;
            return in_register(static_cast<D>(kept), to);
          }};
}
TEST(Convert, Integers) {
  run_checks({
      between<u8, s32>("cvt.u8.s32", "rr", false),
      between<s8, u32>("cvt.s8.u32", "rr", false),
      between<s16, s8>("cvt.s16.s8", "hr", false),
      between<u64, u32>("cvt.u64.u32", "lr", false),
      between<s64, s32>("cvt.s64.s32", "lr", false),
      between<u32, u64>("cvt.u32.u64", "rl", false),
      between<u16, u64>("cvt.u16.u64", "hl", false),
      between<u8, s64>("cvt.sat.u8.s64", "rl", true),
      between<s8, u16>("cvt.sat.s8.u16", "rh", true),
      between<s16, s32>("cvt.sat.s16.s32", "hr", true),
      between<u64, s8>("cvt.sat.u64.s8", "lr", true),
      between<s32, u64>("cvt.sat.s32.u64", "rl", true),
      between<u32, s64>("cvt.sat.u32.s64", "rl", true),
      between<s64, u64>("cvt.sat.s64.u64", "ll", true),
  });
}

// PTX ISA, "cvt": clamped; NaN becomes 0, or the top bit alone if either side has 64 bits.
template <class D>
u64 integer_of(long double x, int mode, bool long_source, char letter) {
  if (std::isnan(x)) {
    const bool top = long_source || sizeof(D) == 8;
    return in_register(static_cast<D>(top ? u64{1} << (8 * sizeof(D) - 1) : 0), letter);
  }
  std::fesetround(mode);
  const volatile long double r = std::nearbyint(x);
  std::fesetround(FE_TONEAREST);
  const long double low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
  return in_register(static_cast<D>(std::clamp<long double>(+r, low, high)), letter);
}
template <class D>
void add_integer(std::vector<Check>& c, const std::string& type, char letter) {
  constexpr const char* names[] = {"rni", "rzi", "rmi", "rpi"};
  for (int i = 0; i < 4; ++i) {
    const int mode = directions[i].mode;
    const std::string head = std::string("cvt.") + names[i] + ".", d(1, letter);
    c.push_back({head + type + ".f32", d + "f", "f",
                 [=](u64 a, u64, u64) { return integer_of<D>(f32_of(a), mode, false, letter); }});
    c.push_back({head + "ftz." + type + ".f32", d + "f", "f", [=](u64 a, u64, u64) {
                   return integer_of<D>(flushed(f32_of(a)), mode, false, letter);
                 }});
    c.push_back({head + type + ".f64", d + "d", "d",
                 [=](u64 a, u64, u64) { return integer_of<D>(f64_of(a), mode, true, letter); }});
    c.push_back({head + type + ".f16", d + "h", "h", [=](u64 a, u64, u64) {
                   return integer_of<D>(f16.value(a & 0xffff), mode, false, letter);
                 }});
    c.push_back({head + type + ".bf16", d + "h", "b", [=](u64 a, u64, u64) {
                   return integer_of<D>(bf16.value(a & 0xffff), mode, false, letter);
                 }});
  }
}
TEST(Convert, FloatingPointToIntegers) {
  std::vector<Check> c;
  add_integer<u16>(c, "u16", 'h');
  add_integer<s16>(c, "s16", 'h');
  add_integer<u32>(c, "u32", 'r');
  add_integer<s32>(c, "s32", 'r');
  add_integer<u64>(c, "u64", 'l');
  add_integer<s64>(c, "s64", 'l');
  run_checks(c);
}

template <class S>
void add_from_integer(std::vector<Check>& c, const std::string& type, const char* letter) {
  for (const Direction& d : directions) {
    const int mode = d.mode;
    const std::string head = std::string("cvt.") + d.name + ".", from = letter;
    const auto single = [=](u64 a, u64, u64) {
      return bits_of(rounded(mode, [&] { return static_cast<float>(static_cast<S>(a)); }));
    };
    const auto real = [=](u64 a, u64, u64) {
      return bits_of(rounded(mode, [&] { return static_cast<double>(static_cast<S>(a)); }));
    };
    c.push_back({head + "f32." + type, "f" + from, "i", single});
    c.push_back({head + "f64." + type, "d" + from, "i", real});
    c.push_back({head + "f16." + type, "h" + from, "i",
                 [=](u64 a, u64, u64) { return f16.round(static_cast<S>(a), mode); }});
    c.push_back({head + "bf16." + type, "h" + from, "i",
                 [=](u64 a, u64, u64) { return bf16.round(static_cast<S>(a), mode); }});
  }
}
TEST(Convert, IntegersToFloatingPoint) {
  std::vector<Check> c;
  add_from_integer<u16>(c, "u16", "h");
  add_from_integer<s16>(c, "s16", "h");
  add_from_integer<u32>(c, "u32", "r");
  add_from_integer<s32>(c, "s32", "r");
  add_from_integer<u64>(c, "u64", "l");
  add_from_integer<s64>(c, "s64", "l");
  run_checks(c);
}

// An H200 keeps the sign and the top of a NaN's payload and makes it quiet.
u64 narrow_nan(u64 bits, int fraction, int sign) {
  const u64 exponent = (u64{1} << (sign - fraction)) - 1;
  const u64 payload = (bits & 0xfffffffffffff) >> (52 - fraction);
  return bits >> 63 << sign | exponent << fraction | payload | u64{1} << (fraction - 1);
}
TEST(Convert, NarrowingRoundsOnce) {
  std::vector<Check> c;
  for (const Direction& d : directions) {
    const int mode = d.mode;
    const std::string head = std::string("cvt.") + d.name;
    c.push_back({head + ".f32.f64", "fd", "d", [=](u64 a, u64, u64) {
                   if (std::isnan(f64_of(a))) return narrow_nan(a, 23, 31);
                   return canonical(rounded(mode, [&] { return static_cast<float>(f64_of(a)); }));
                 }});
    c.push_back({head + ".f16.f32", "hf", "f",
                 [=](u64 a, u64, u64) { return f16.round(f32_of(a), mode); }});
    c.push_back({head + ".f16.f64", "hd", "d", [=](u64 a, u64, u64) {
                   if (std::isnan(f64_of(a))) return narrow_nan(a, 10, 15);
                   return f16.round(f64_of(a), mode);
                 }});
    c.push_back({head + ".bf16.f32", "hf", "f",
                 [=](u64 a, u64, u64) { return bf16.round(f32_of(a), mode); }});
    c.push_back({head + ".bf16.f64", "hd", "d", [=](u64 a, u64, u64) {
                   if (std::isnan(f64_of(a))) return narrow_nan(a, 7, 15);
                   return bf16.round(f64_of(a), mode);
                 }});
    c.push_back({head + ".bf16.f16", "hh", "h",
                 [=](u64 a, u64, u64) { return bf16.round(f16.value(a & 0xffff), mode); }});
  }
  c.push_back({"cvt.rn.bf16x2.f32", "rff", "ff", [](u64 a, u64 b, u64) {
                 return bf16.round(f32_of(a), FE_TONEAREST) << 16 |
                        bf16.round(f32_of(b), FE_TONEAREST);
               }});
  c.push_back({"cvt.rz.relu.f16x2.f32", "rff", "ff", [](u64 a, u64 b, u64) {
                 const auto one = [](u64 x) {
                   const u64 r = f16.round(f32_of(x), FE_TOWARDZERO);
                   return r & 0x8000 && !f16.is_nan(r) ? 0 : r;
                 };
                 return one(a) << 16 | one(b);
               }});
  run_checks(c);
}

TEST(Convert, WideningIsExact) {
  run_checks({
      {"cvt.f32.f16", "fh", "h",
       [](u64 a, u64, u64) { return canonical(float(f16.value(a & 0xffff))); }},
      {"cvt.f32.bf16", "fh", "b", [](u64 a, u64, u64) { return a << 16 & 0xffffffff; }},
      {"{cvt.f64.f32 $0, $1; copysign.f64 $0, 0d3ff0000000000000, $0;}", "df", "f",
       [](u64 a, u64, u64) {
         const double d = f32_of(a);
         return bits_of(std::fabs(std::isnan(d) ? std::bit_cast<double>(bits_of(d)) : d));
       }},
      {"cvt.sat.f32.f32", "ff", "f", [](u64 a, u64, u64) { return saturated_f32(f32_of(a)); }},
  });
}

TEST(Convert, ToIntegralValues) {
  run_checks({
      {"cvt.rni.f32.f32", "ff", "f",
       [](u64 a, u64, u64) { return canonical(std::nearbyint(f32_of(a))); }},
      {"cvt.rzi.f32.f32", "ff", "f",
       [](u64 a, u64, u64) { return canonical(std::trunc(f32_of(a))); }},
      {"cvt.rmi.ftz.f32.f32", "ff", "f",
       [](u64 a, u64, u64) { return canonical(std::floor(flushed(f32_of(a)))); }},
      {"cvt.rpi.f16.f16", "hh", "h",
       [](u64 a, u64, u64) { return f16.round(std::ceil(f16.value(a & 0xffff)), FE_TONEAREST); }},
  });
}

u64 byte_of(const Narrow& format, u64 greatest, float x) {
  if (std::isnan(x)) return 0x7f;
  const u64 s = std::signbit(x) ? 0x80 : 0;
  if (std::fabs(x) > 1e6f) return greatest | s;
  return std::min(greatest, format.round(std::fabs(x), FE_TONEAREST)) | s;
}
TEST(Convert, EightBitFormats) {
  // e4m3 has no infinity: its top exponent has numbers, here as a format with more exponents.
  static constexpr Narrow e5m2{5, 2};
  const auto e4m3 = [](float x) {
    if (std::isnan(x)) return u64{0x7f};
    const u64 s = std::signbit(x) ? 0x80 : 0;
    const float m = std::fabs(x);
    if (m >= 448) return 0x7e | s;
    const float unit = m < 0x1p-6f ? 0x1p-9f : std::ldexp(1.0f, std::ilogb(m) - 3);
    const float r = std::nearbyint(m / unit) * unit;
    if (r < 0x1p-6f) return static_cast<u64>(r * 0x1p9f) | s;
    const int e = std::ilogb(r);
    return (static_cast<u64>(e + 7) << 3 | static_cast<u64>(std::ldexp(r, 3 - e) - 8)) | s;
  };
  run_checks({
      {"cvt.rn.satfinite.e5m2x2.f32", "hff", "ff",
       [](u64 a, u64 b, u64) {
         return byte_of(e5m2, 0x7b, f32_of(a)) << 8 | byte_of(e5m2, 0x7b, f32_of(b));
       }},
      {"cvt.rn.satfinite.e4m3x2.f32", "hff", "ff",
       [=](u64 a, u64 b, u64) { return e4m3(f32_of(a)) << 8 | e4m3(f32_of(b)); }},
      {"cvt.rn.f16x2.e5m2x2", "rh", "e",
       [](u64 a, u64, u64) {
         const auto one = [](u64 x) { return (x & 0x7f) > 0x7c ? 0x7fff : x << 8; };
         return one(a >> 8 & 255) << 16 | one(a & 255);
       }},
      // Every e4m3 value survives conversion to f16 and back.
      {"{.reg .b32 %h; cvt.rn.f16x2.e4m3x2 %h, $1; cvt.rn.satfinite.e4m3x2.f16x2 $0, %h;}", "hh",
       "e",
       [](u64 a, u64, u64) {
         const auto one = [](u64 x) { return (x & 0x7f) == 0x7f ? 0x7f : x; };
         return one(a >> 8 & 255) << 8 | one(a & 255);
       }},
  });
}

TEST(Convert, Tf32AndPacks) {
  run_checks({
      {"cvt.rna.tf32.f32", "rf", "f",
       [](u64 a, u64, u64) {
         const float x = f32_of(a);
         if (std::isnan(x)) return u64{u32(a) & 0xffffe000};
         return std::isinf(x) ? u64{u32(a)} : u64{(u32(a) + 0x1000) & 0xffffe000};
       }},
      {"cvt.pack.sat.s16.s32", "rrr", "ii",
       [](u64 a, u64 b, u64) {
         const auto one = [](u64 x) { return u64{u16(std::clamp<s32>(s32(x), -32768, 32767))}; };
         return one(a) << 16 | one(b);
       }},
      {"cvt.pack.sat.u8.s32.b32", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) {
         const auto one = [](u64 x) { return u64{u8(std::clamp<s32>(s32(x), 0, 255))}; };
         return (c << 16 | one(a) << 8 | one(b)) & 0xffffffff;
       }},
  });
}

}  // namespace
}  // namespace inflight::machine
