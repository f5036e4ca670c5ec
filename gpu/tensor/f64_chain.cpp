// Rounds as the product specifies. NaNs are those of an H200's DMMA.
#include "gpu/tensor/f64_chain.hpp"

#include <bit>
#include <cfenv>
#include <cmath>

namespace inflight::tensor {
namespace {

constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

class RoundingMode {
 public:
  explicit RoundingMode(Rounding rounding) : before_(std::fegetround()) {
    std::fesetround(modes[static_cast<std::size_t>(rounding)]);
  }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;

 private:
  int before_;
};

double quiet(double nan) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(nan) | 0x0008000000000000);
}

// b's NaN takes precedence over the sum's, and that over a's.
double nan_of(double a, double b, double sum) {
  if (std::isnan(b)) return quiet(b);
  if (std::isnan(sum)) return quiet(sum);
  if (std::isnan(a)) return quiet(a);
  return std::bit_cast<double>(0xfff8000000000000);
}

}  // namespace

void multiply_f64(const Product& p, const Matrices& at) {
  const auto *const a = static_cast<const double*>(at.a),
                    *const b = static_cast<const double*>(at.b),
                    *const c = static_cast<const double*>(at.c);
  auto* d = static_cast<double*>(at.d);
  const RoundingMode mode(p.rounding);
  for (int column = 0; column < p.n; ++column)
    for (int row = 0; row < p.m; ++row) {
      double sum = c ? c[column * p.m + row] : 0;
      for (int i = 0; i < p.k; ++i) {
        const double x = a[row * p.k + i], y = b[column * p.k + i];
        const double next = std::fma(x, y, sum);
        sum = std::isnan(next) ? nan_of(x, y, sum) : next;
      }
      d[column * p.m + row] = sum;
    }
}

}  // namespace inflight::tensor
