// The arithmetic of distributions, as generators on the device and on the host do it.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

#include "gpu/curand/device_math.hpp"

namespace inflight::curand {

// Each has multiply_add, which compilers make of a product and a sum, and what cuRAND's functions
// call approximate: log2 and the like with few bits.
struct DeviceMath {
  template <class Real>
  static Real multiply_add(Real x, Real y, Real z) {
    return std::fma(x, y, z);
  }
  template <class Real>
  static Real log(Real x) {
    return device::log(x);
  }
  template <class Real>
  static Real exp(Real x) {
    return device::exp(x);
  }
  static Turn<float> turn(float angle) { return device::approximate_turn(angle); }
  static Turn<double> turn_of_pi(double part) { return device::turn_of_pi(part); }
  static float rough_log(float x) { return float(device::approximate_log2(x) * std::numbers::ln2); }
  static float rough_exp(float x) {
    return device::approximate_exp2(float(x * std::numbers::log2e));
  }
  static float rough_reciprocal(float x) { return device::approximate_reciprocal(x); }
  static float rough_reciprocal_root(float x) { return device::approximate_reciprocal_root(x); }
  // A NaN is 2^31.
  static std::uint32_t whole(double x) {
    if (x != x) return 0x80000000;
    return x <= 0 ? 0 : std::uint32_t(x);
  }
};

// cuRAND calls the host's own functions.
struct HostMath {
  template <class Real>
  static Real multiply_add(Real x, Real y, Real z) {
    return x * y + z;
  }
  template <class Real>
  static Real log(Real x) {
    return std::log(x);
  }
  template <class Real>
  static Real exp(Real x) {
    return std::exp(x);
  }
  static Turn<float> turn(float angle) { return {std::sin(angle), std::cos(angle)}; }
  static Turn<double> turn_of_pi(double part) {
    const double angle = part * std::numbers::pi;
    return {std::sin(angle), std::cos(angle)};
  }
  static float rough_log(float x) { return std::log(x); }
  static float rough_exp(float x) { return std::exp(x); }
  static float rough_reciprocal(float x) { return 1 / x; }
  static float rough_reciprocal_root(float x) { return 1 / std::sqrt(x); }
  static std::uint32_t whole(double x) {
    return x != x ? 0 : std::uint32_t(static_cast<std::int64_t>(x));
  }
};

}  // namespace inflight::curand
