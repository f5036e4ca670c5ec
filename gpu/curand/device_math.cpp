// Each function makes the roundings that compiled CUDA code makes: results equal the device's only
// if each step does. So the coefficients are those that nvcc leaves in a program's PTX.
#include "gpu/curand/device_math.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "gpu/machine/families/multifunction.hpp"

namespace inflight::curand::device {
namespace {

namespace mufu = machine::INFLIGHT_ISA::mufu;

// Horner's scheme, from the highest power.
template <class Real>
Real polynomial(Real x, std::initializer_list<Real> coefficients) {
  Real sum = *coefficients.begin();
  for (const Real* each = coefficients.begin() + 1; each != coefficients.end(); ++each)
    sum = std::fma(sum, x, *each);
  return sum;
}

constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2_rest = 0x1.abc9e3b39803fp-56;

// 1 / x from the multifunction unit's 20 bits and a step of third order.
double reciprocal(double x) {
  const auto high = std::uint32_t(std::bit_cast<std::uint64_t>(x) >> 32);
  const double rough = std::bit_cast<double>(std::uint64_t{mufu::Rcp64{}(high)} << 32);
  const double rest = std::fma(-x, rough, 1.0);
  return std::fma(std::fma(rest, rest, rest), rough, rough);
}

}  // namespace

float log(float x) {
  const bool subnormal = x < 0x1p-126f;
  const auto bits = std::bit_cast<std::uint32_t>(subnormal ? x * 0x1p23f : x);
  constexpr std::uint32_t two_thirds = 0x3f2aaaab;
  const std::uint32_t exponent = (bits - two_thirds) & 0xff800000;
  const float power = std::fma(float(std::int32_t(exponent)), 0x1p-23f, subnormal ? -23.0f : 0.0f);
  const float m = std::bit_cast<float>(bits - exponent) - 1;
  const float p =
      polynomial(m, {-0x1.0aa04ep-3f, 0x1.2073ecp-3f, -0x1.f19b98p-4f, 0x1.1e52aap-3f,
                     -0x1.55b172p-3f, 0x1.99da16p-3f, -0x1.fffe44p-3f, 0x1.5554fp-2f, -0.5f});
  return std::fma(power, 0x1.62e43p-1f, std::fma(m * p, m, m));
}

float exp(float x) {
  const float place = std::fma(x, 0x1.77313ap-8f, 0.5f);
  const float bounded = std::fmin(std::fmax(place, 0.0f), 1.0f);
  // The exponent plus 127, rounded down, in the lowest bits.
  const float shifted = float(std::floor(double(bounded) * 252)) + 0x1.800002p23f;
  const float whole = shifted - 0x1.8000fep23f;
  const float fraction = std::fma(x, 0x1.4ae0cp-26f, std::fma(x, 0x1.715476p0f, -whole));
  const auto scale = std::bit_cast<float>(std::bit_cast<std::uint32_t>(shifted) << 23);
  return mufu::Ex2{}(fraction)*scale;
}

double log(double x) {
  int power = std::ilogb(x);
  double m = std::scalbn(x, -power);
  if (std::bit_cast<std::uint64_t>(m) >> 32 >= 0x3ff6a09f) m /= 2, ++power;
  const double up = m + 1, down = m - 1, inverse = reciprocal(up);
  const double half = down * inverse, q = std::fma(down, inverse, half), square = q * q;
  const double p =
      polynomial(square, {0x1.1380b3ae80f1ep-20, 0x1.0ee258b7a8b04p-18, 0x1.3b2669f02676fp-16,
                          0x1.745cba9ab0956p-14, 0x1.c71c72d1b5154p-12, 0x1.24924923be72dp-9,
                          0x1.999999999a3c4p-7, 0x1.5555555555554p-4});
  const double difference = down - q;
  const double rest = inverse * std::fma(-q, down, difference + difference);
  const double tail = std::fma(square * p, q, rest);
  const double sum = std::fma(double(power), ln2, q);
  const double lost = std::fma(-double(power), ln2, sum) - q;
  return sum + std::fma(double(power), ln2_rest, tail - lost);
}

double exp(double x) {
  constexpr double shift = 0x1.8p52;
  const double shifted = std::fma(x, 0x1.71547652b82fep0, shift), power = shifted - shift;
  const auto whole = std::int32_t(std::bit_cast<std::uint64_t>(shifted));
  const double m = std::fma(power, -ln2_rest, std::fma(power, -ln2, x));
  const double p = polynomial(
      m, {0x1.ade1569ce2bdfp-26, 0x1.28af3fca213eap-22, 0x1.71dee62401315p-19,
          0x1.a01997c89eb71p-16, 0x1.a01a014761f65p-13, 0x1.6c16c1852b7afp-10, 0x1.1111111122322p-7,
          0x1.55555555502a1p-5, 0x1.5555555555511p-3, 0x1.000000000000bp-1, 1.0, 1.0});
  const auto add = [](double value, std::int32_t exponent) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) +
                                 (std::uint64_t(std::uint32_t(exponent)) << 52));
  };
  const auto size =
      std::bit_cast<float>(std::uint32_t(std::bit_cast<std::uint64_t>(x) >> 32) & 0x7fffffff);
  if (size < std::bit_cast<float>(0x4086232bu)) return add(p, whole);
  if (!(size < std::bit_cast<float>(0x40874800u)))
    return x < 0 ? 0.0 : x + std::bit_cast<double>(0x7ff0000000000000);
  const std::int32_t half = whole / 2;
  return add(p, half) * add(1.0, whole - half);
}

float approximate_log2(float x) { return mufu::Lg2{}(x); }
float approximate_exp2(float x) { return mufu::Ex2{}(x); }
float approximate_reciprocal(float x) { return mufu::Rcp{}(x); }
float approximate_reciprocal_root(float x) { return mufu::Rsq{}(x); }
Turn<float> approximate_turn(float angle) { return {mufu::Sin{}(angle), mufu::Cos{}(angle)}; }

Turn<double> turn_of_pi(double x) {
  const double halves = std::nearbyint(2 * x);
  const auto quarter = std::int64_t(halves);
  const double rest = std::fma(-halves, 0.5, x);
  const double angle = std::fma(rest, 0x1.921fb54442d18p1, rest * 0x1.1a62633145c07p-53);
  const double square = angle * angle;
  double cosine = polynomial(
      square, {-0x1.8ff8320fd8164p-37, 0x1.1eea7c1ef8528p-29, -0x1.27e4f8e06e6d9p-22,
               0x1.a01a019ddbce9p-16, -0x1.6c16c16c15d47p-10, 0x1.5555555555551p-5, -0.5, 1.0});
  double sine = polynomial(
      square, {0x1.5db65f9785ebap-33, -0x1.ae5f12cb0d246p-26, 0x1.71de369ace392p-19,
               -0x1.a01a019db62a1p-13, 0x1.1111111110818p-7, -0x1.5555555555554p-3, 0.0});
  sine = std::fma(sine, angle, angle);
  if (quarter & 1) {
    const double old = sine;
    sine = cosine, cosine = -old;
  }
  if (quarter & 2) sine = -sine, cosine = -cosine;
  if (x == std::trunc(x)) sine = x * 0.0;
  return {sine, cosine + 0.0};
}

}  // namespace inflight::curand::device
