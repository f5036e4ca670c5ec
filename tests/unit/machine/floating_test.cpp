// f32 and f64 arithmetic, compared with the host's own in every rounding direction.
#include "tests/unit/machine/exact_reference.hpp"

namespace inflight::machine {
namespace {

struct Direction {
  const char* name;
  int mode;
};
constexpr Direction directions[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

using Single = float (*)(float, float, float);
using Double = double (*)(double, double, double);

// Tiny on an H200: below the normal values when rounded with unlimited exponents.
bool is_tiny(double exact, int mode) {
  const double below = 0x1p-126 - std::fabs(exact);
  return mode == FE_TONEAREST ? below > 0x1p-151 : below >= 0x1p-150;
}
void add_single(std::vector<Check>& checks, const std::string& op, int sources, Single f,
                bool sat) {
  const std::string registers = std::string(1 + sources, 'f'), kinds(sources, 'f');
  for (const Direction& d : directions) {
    const int mode = d.mode;
    const auto plain = [=](u64 a, u64 b, u64 c) {
      return rounded(mode, [&] { return f(f32_of(a), f32_of(b), f32_of(c)); });
    };
    const auto flushing = [=](u64 a, u64 b, u64 c) {
      const float x = flushed(f32_of(a)), y = flushed(f32_of(b)), z = flushed(f32_of(c));
      const float r = rounded(mode, [&] { return f(x, y, z); });
      const double exact = op == "mul" ? double{x} * y : std::fma(double{x}, double{y}, double{z});
      const bool product = op == "mul" || op == "fma" || op == "mad";
      return product && is_tiny(exact, mode) ? std::copysign(0.0f, r) : flushed(r);
    };
    checks.push_back({op + d.name + ".f32", registers, kinds,
                      [=](u64 a, u64 b, u64 c) { return canonical(plain(a, b, c)); }});
    checks.push_back({op + d.name + ".ftz.f32", registers, kinds,
                      [=](u64 a, u64 b, u64 c) { return canonical(flushing(a, b, c)); }});
    if (!sat) continue;
    checks.push_back({op + d.name + ".sat.f32", registers, kinds,
                      [=](u64 a, u64 b, u64 c) { return saturated_f32(plain(a, b, c)); }});
    checks.push_back({op + d.name + ".ftz.sat.f32", registers, kinds,
                      [=](u64 a, u64 b, u64 c) { return saturated_f32(flushing(a, b, c)); }});
  }
}
// Only the GPU tests compare NaN payloads of f64. Here any NaN is right.
void add_double(std::vector<Check>& checks, const std::string& op, int sources, Double f) {
  for (const Direction& d : directions) {
    const int mode = d.mode;
    std::string sum = "{.reg .pred %n; " + op + d.name + ".f64 $0";
    for (int i = 1; i <= sources; ++i) sum += ", $" + std::to_string(i);
    sum += "; testp.notanumber.f64 %n, $0; selp.f64 $0, 0d7ff8000000000000, $0, %n;}";
    checks.push_back(
        {sum, std::string(1 + sources, 'd'), std::string(sources, 'd'), [=](u64 a, u64 b, u64 c) {
           const double r = rounded(mode, [&] { return f(f64_of(a), f64_of(b), f64_of(c)); });
           return std::isnan(r) ? 0x7ff8000000000000 : bits_of(r);
         }});
  }
}

TEST(Floating, SinglePrecisionInEveryDirection) {
  std::vector<Check> c;
  using F = float;
  add_single(
      c, "add", 2, [](F a, F b, F) { return a + b; }, true);
  add_single(
      c, "sub", 2, [](F a, F b, F) { return a - b; }, true);
  add_single(
      c, "mul", 2, [](F a, F b, F) { return a * b; }, true);
  add_single(
      c, "div", 2, [](F a, F b, F) { return a / b; }, false);
  add_single(
      c, "rcp", 1, [](F a, F, F) { return 1 / a; }, false);
  add_single(
      c, "sqrt", 1, [](F a, F, F) { return std::sqrt(a); }, false);
  add_single(
      c, "fma", 3, [](F a, F b, F d) { return std::fma(a, b, d); }, true);
  run_checks(c);
}

TEST(Floating, DoublePrecisionInEveryDirection) {
  std::vector<Check> c;
  using F = double;
  add_double(c, "add", 2, [](F a, F b, F) { return a + b; });
  add_double(c, "sub", 2, [](F a, F b, F) { return a - b; });
  add_double(c, "mul", 2, [](F a, F b, F) { return a * b; });
  add_double(c, "div", 2, [](F a, F b, F) { return a / b; });
  add_double(c, "rcp", 1, [](F a, F, F) { return 1 / a; });
  add_double(c, "sqrt", 1, [](F a, F, F) { return std::sqrt(a); });
  add_double(c, "fma", 3, [](F a, F b, F d) { return std::fma(a, b, d); });
  run_checks(c);
}

TEST(Floating, WithoutADirectionRoundsToNearest) {
  run_checks({
      {"add.f32", "fff", "ff", [](u64 a, u64 b, u64) { return canonical(f32_of(a) + f32_of(b)); }},
      {"mul.ftz.f32", "fff", "ff",
       [](u64 a, u64 b, u64) {
         const float x = flushed(f32_of(a)), y = flushed(f32_of(b)), r = x * y;
         return canonical(is_tiny(double{x} * y, FE_TONEAREST) ? std::copysign(0.0f, r) : r);
       }},
      {"sub.sat.f32", "fff", "ff",
       [](u64 a, u64 b, u64) { return saturated_f32(f32_of(a) - f32_of(b)); }},
  });
}

// With one NaN the result is the number. -0 is below +0.
template <bool Least>
float extreme(float a, float b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) == Least ? a : b;
  return (a < b) == Least ? a : b;
}
TEST(Floating, MinimaAndMaxima) {
  const auto nan_wins = [](u64 a, u64 b, float r) {
    return std::isnan(f32_of(a)) || std::isnan(f32_of(b)) ? 0x7fffffff : canonical(r);
  };
  const auto xorsign = [](u64 a, u64 b) {
    const float r = extreme<true>(std::fabs(f32_of(a)), std::fabs(f32_of(b)));
    return std::isnan(r) ? 0x7fffffff : (bits_of(r) | ((a ^ b) & 0x80000000));
  };
  run_checks({
      {"min.f32", "fff", "ff",
       [](u64 a, u64 b, u64) { return canonical(extreme<true>(f32_of(a), f32_of(b))); }},
      {"max.f32", "fff", "ff",
       [](u64 a, u64 b, u64) { return canonical(extreme<false>(f32_of(a), f32_of(b))); }},
      {"max.ftz.f32", "fff", "ff",
       [](u64 a, u64 b, u64) {
         return canonical(extreme<false>(flushed(f32_of(a)), flushed(f32_of(b))));
       }},
      {"min.NaN.f32", "fff", "ff",
       [=](u64 a, u64 b, u64) { return nan_wins(a, b, extreme<true>(f32_of(a), f32_of(b))); }},
      {"min.xorsign.abs.f32", "fff", "ff", [=](u64 a, u64 b, u64) { return xorsign(a, b); }},
  });
}

TEST(Floating, SignsAndTests) {
  const auto is = [](const char* question, int kind, bool opposite) {
    return Check{std::string("testp.") + question + ".f32", "pf", "f", [=](u64 a, u64, u64) {
                   const int got = std::fpclassify(f32_of(a));
                   const bool zero_is_normal = kind == FP_NORMAL && got == FP_ZERO;  // on an H200
                   return u64{(got == kind || zero_is_normal) != opposite};
                 }};
  };
  run_checks({
      {"neg.f32", "ff", "f", [](u64 a, u64, u64) { return canonical(-f32_of(a)); }},
      {"abs.f64", "dd", "d",
       [](u64 a, u64, u64) {
         return std::isnan(f64_of(a)) ? a | 0x0008000000000000 : a << 1 >> 1;
       }},
      {"abs.ftz.f32", "ff", "f",
       [](u64 a, u64, u64) { return canonical(std::fabs(flushed(f32_of(a)))); }},
      {"copysign.f32", "fff", "ff",
       [](u64 a, u64 b, u64) { return (a & 0x80000000) | (b & 0x7fffffff); }},
      is("infinite", FP_INFINITE, false),
      is("notanumber", FP_NAN, false),
      is("number", FP_NAN, true),
      is("normal", FP_NORMAL, false),
      is("subnormal", FP_SUBNORMAL, false),
  });
}

}  // namespace
}  // namespace inflight::machine
