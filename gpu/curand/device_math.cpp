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

// x^(-1/2), likewise.
double reciprocal_root(double x) {
  const auto high = std::uint32_t(std::bit_cast<std::uint64_t>(x) >> 32);
  const double rough = std::bit_cast<double>(std::uint64_t{mufu::Rsq64{}(high)} << 32);
  const double rest = std::fma(x, -(rough * rough), 1.0);
  return std::fma(std::fma(0.375, rest, 0.5), rest * rough, rough);
}

// The logarithm inside inverse_erfc(): that of a number in [0.5, 2) and an even power of two.
double short_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int power = int(bits >> 52 & 2046) - 1022;
  const double m = std::bit_cast<double>((bits & 0x801fffffffffffff) | 0x3fe0000000000000);
  const double down = m - 1, inverse = reciprocal(m + 1), rough = down * inverse;
  const double rest = std::fma(-rough, down, std::fma(-2.0, rough, down));
  const double q = std::fma(rest, inverse, rough), square = q * q;
  const double p =
      polynomial(square, {0x1.5c5c218c775c9p-4, 0x1.55cf59cdc5d89p-5, 0x1.efd18cf6ebb9cp-5,
                          0x1.10682edcb8d1bp-4, 0x1.3b1dd3ac7fc96p-4, 0x1.745cb459b54a6p-4,
                          0x1.c71c741a0669fp-4, 0x1.249249209112ep-3, 0x1.99999999a06c1p-3,
                          0x1.5555555555535p-2});
  const double half = std::fma(square * p, q, q);
  return std::fma(double(power), ln2, half + half);
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

float inverse_erfc(float x) {
  constexpr float least = 0x1.bda512p-9f;
  if (x >= least) {
    const float w = -mufu::Lg2{}((2 - x) * x);
    const float p = polynomial(
        w, {-0x1.14c6ep-32f, 0x1.43ec8ap-27f, -0x1.02dfb4p-23f, 0x1.d1f08cp-23f, 0x1.0e8554p-17f,
            -0x1.09b69ap-15f, -0x1.95fd42p-11f, 0x1.6b804ep-8f, 0x1.495c1ep-3f, 0x1.c5bf88p-1f});
    return std::fma(p, -x, p);
  }
  const float w = -mufu::Lg2{}(x), r = mufu::Rsq{}(w);
  return polynomial(r,
                    {-0x1.f8e7e2p5f, 0x1.fdf052p6f, -0x1.c86c38p6f, 0x1.e29b36p5f, -0x1.5ca366p4f,
                     0x1.9dea08p2f, -0x1.d53c0ap0f, -0x1.f0e3e8p-6f, 0x1.aa6eeap-1f}) *
         (r * w);
}

double inverse_erfc(double x) {
  constexpr double least = 0x1.fa4d2ad8f904dp-11;
  if (x >= least) {
    const double p =
        polynomial(-3.125 - short_log((2 - x) * x),
                   {-0x1.135d2e746e627p-68, -0x1.8ddf93324d327p-63, 0x1.7b83eef0b7c9fp-60,
                    0x1.9ba72cd589b91p-57,  -0x1.33689090a6b96p-53, 0x1.82e11898132ep-56,
                    0x1.de4acfd9e26bap-48,  -0x1.6d33eed66c487p-45, -0x1.6f2167040d8e2p-44,
                    0x1.72a22c2d77e2p-39,   -0x1.c8859c4e5c0afp-37, -0x1.dc583d118a561p-35,
                    0x1.20f47ccf46b3cp-30,  -0x1.1a9e38dc84d6p-28,  -0x1.f36cd6d3d46a9p-26,
                    0x1.c6b4f5d03b787p-22,  -0x1.6e8a5434ae8a2p-20, -0x1.d1d1f7b8736f6p-17,
                    0x1.879c2a212f024p-13,  -0x1.845769484fca8p-11, -0x1.8b6c33114f909p-8,
                    0x1.ebd80d9b13e28p-3,   0x1.a755e7c99ae86p0});
    return std::fma(p, -x, p);
  }
  const double w = -short_log(x), t = reciprocal_root(w);
  const double above = polynomial(
      t, {0x1.be9222591afabp-1, 0x1.0a0e7333839aap1, 0x1.8768cf7e57d5cp1, 0x1.b77e7e28da583p1,
          0x1.34f26a4f99cf9p0, 0x1.1f674adb019edp-3, 0x1.5ddae9506431dp-8, 0x1.ada49aa32489cp-15});
  const double below = polynomial(
      t, {0x1p0, 0x1.1e90ff51c2197p1, 0x1.11ea3a7cf382p2, 0x1.1a0e4a4749594p2, 0x1.d4e977d38c14dp1,
          0x1.37fd567ec0d5fp0, 0x1.1fb9d7f676033p-3, 0x1.5ddcdf98946e4p-8, 0x1.ada42d79d8dbbp-15});
  return above / (t * below);
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
