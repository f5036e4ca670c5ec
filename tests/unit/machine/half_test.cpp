// f16 and bf16 arithmetic: one rounding of the exact result.
#include "tests/unit/machine/exact_reference.hpp"

namespace inflight::machine {
namespace {

enum class Clamp { none, sat, relu };
u64 clamped(const Narrow& format, u64 r, Clamp clamp) {
  const u64 one = static_cast<u64>(format.bias()) << format.fraction_bits;
  if (clamp == Clamp::sat) return format.is_nan(r) || r & 0x8000 ? 0 : std::min(r, one);
  return clamp == Clamp::relu && !format.is_nan(r) && r & 0x8000 ? 0 : r;
}
using Exact = long double (*)(double, double, double);

struct Operation {
  std::string text;
  int sources;
  Exact exact;
  const Narrow& format;
  bool ftz = false;
  Clamp clamp = Clamp::none;
  u64 operator()(u64 a, u64 b, u64 c) const {
    const auto in = [&](u64 x) {
      return format.value(ftz ? format.flush(x & 0xffff) : x & 0xffff);
    };
    const u64 r = format.round(exact(in(a), in(b), in(c)), FE_TONEAREST);
    // Tiny on an H200: below the normal values when rounded with unlimited exponents.
    const long double magnitude = std::fabs(exact(in(a), in(b), in(c)));
    const bool tiny = ftz && magnitude < 0x1p-14L - 0x1p-26L;
    return clamped(format, tiny ? r & 0x8000 : r, clamp);
  }
};
void add(std::vector<Check>& checks, const Operation& op) {
  const bool brain = &op.format == &bf16;
  const std::string type = brain ? ".bf16" : ".f16";
  checks.push_back({op.text + type, std::string(1 + op.sources, 'h'),
                    std::string(op.sources, brain ? 'b' : 'h'), op});
  checks.push_back({op.text + type + "x2", std::string(1 + op.sources, 'r'),
                    std::string(op.sources, brain ? 'B' : 'H'), [=](u64 a, u64 b, u64 c) {
                      return op(a, b, c) | op(a >> 16, b >> 16, c >> 16) << 16;
                    }});
}

long double plus(double a, double b, double) { return sum_of_product(a, 1, b); }
long double minus(double a, double b, double) { return sum_of_product(a, 1, -b); }
long double times(double a, double b, double) { return static_cast<long double>(a) * b; }
long double fused(double a, double b, double c) { return sum_of_product(a, b, c); }

TEST(Half, SumsAndProductsRoundOnce) {
  std::vector<Check> c;
  for (const Narrow* format : {&f16, &bf16}) {
    add(c, {"add", 2, plus, *format});
    add(c, {"sub.rn", 2, minus, *format});
    add(c, {"mul", 2, times, *format});
    add(c, {"fma.rn", 3, fused, *format});
    add(c, {"fma.rn.relu", 3, fused, *format, false, Clamp::relu});
  }
  add(c, {"add.ftz", 2, plus, f16, true});
  add(c, {"mul.sat", 2, times, f16, false, Clamp::sat});
  add(c, {"fma.rn.ftz.sat", 3, fused, f16, true, Clamp::sat});
  run_checks(c);
}

template <bool Least>
u64 extreme(const Narrow& format, u64 a, u64 b) {
  a &= 0xffff, b &= 0xffff;
  if (format.is_nan(a)) return format.is_nan(b) ? 0x7fff : b;
  if (format.is_nan(b)) return a;
  const double x = format.value(a), y = format.value(b);
  if (x == 0 && y == 0) return (a >> 15 != 0) == Least ? a : b;
  return (x < y) == Least ? a : b;
}
TEST(Half, MinimaMaximaAndSigns) {
  run_checks({
      {"min.f16", "hhh", "hh", [](u64 a, u64 b, u64) { return extreme<true>(f16, a, b); }},
      {"max.bf16", "hhh", "bb", [](u64 a, u64 b, u64) { return extreme<false>(bf16, a, b); }},
      {"max.f16x2", "rrr", "HH",
       [](u64 a, u64 b, u64) {
         return extreme<false>(f16, a, b) | extreme<false>(f16, a >> 16, b >> 16) << 16;
       }},
      {"min.NaN.bf16", "hhh", "bb",
       [](u64 a, u64 b, u64) {
         const bool nan = bf16.is_nan(a & 0xffff) || bf16.is_nan(b & 0xffff);
         return nan ? 0x7fff : extreme<true>(bf16, a, b);
       }},
      {"abs.f16", "hh", "h",
       [](u64 a, u64, u64) { return f16.is_nan(a & 0xffff) ? 0x7fff : a & 0x7fff; }},
      {"neg.bf16x2", "rr", "B",
       [](u64 a, u64, u64) {
         const auto one = [](u64 x) { return bf16.is_nan(x) ? 0x7fff : x ^ 0x8000; };
         return one(a >> 16 & 0xffff) << 16 | one(a & 0xffff);
       }},
      {"neg.ftz.f16", "hh", "h",
       [](u64 a, u64, u64) {
         return f16.is_nan(a & 0xffff) ? 0x7fff : f16.flush(a & 0xffff) ^ 0x8000;
       }},
  });
}

}  // namespace
}  // namespace inflight::machine
