// Poisson numbers as cuRAND's device functions make them of a lane's uniform numbers.
#pragma once
#include <cmath>
#include <cstdint>

#include "gpu/curand/poisson.hpp"

namespace inflight::curand {

// Products of uniform numbers (Knuth, "Seminumerical Algorithms").
template <class Math, class Lane>
std::uint32_t poisson_of_products(Lane& lane, float mean) {
  std::uint32_t count = 0;
  for (float product = Math::exp(mean);; ++count) {
    product *= lane.uniform();
    if (!(product > 1)) return count;
  }
}

// Rejection, with an approximation of the incomplete gamma function and of its inverse: both take a
// scale and a shift that depend on the mean.
template <class Math>
class RoughGamma {
 public:
  explicit RoughGamma(float mean) : mean_(mean) {
    constexpr float shift = 0.00025361074907033f, scale = 1.43248035075540910f,
                    scale_root = 0.12400979329415655f, of_shift = 0.21096734870196546f,
                    of_shift_root = 1.97381164089999420f, rest = 0.94201734077887530f;
    scale_ = Math::multiply_add(scale, Math::rough_reciprocal_root(mean - scale_root), shift);
    shift_ = Math::multiply_add(of_shift, Math::rough_reciprocal_root(mean - of_shift_root), rest);
  }
  float operator()(float x) const {
    const float t = 1 + Math::rough_exp(Math::multiply_add(scale_, mean_ - x, -shift_));
    return Math::rough_reciprocal(t * t);
  }
  float inverse(float y) const {
    const float t = shift_ + Math::rough_log(Math::rough_reciprocal_root(y) - 1);
    return Math::multiply_add(-t, Math::rough_reciprocal(scale_), mean_);
  }

 private:
  float mean_, scale_, shift_;
};
template <class Math, class Lane>
std::uint32_t poisson_by_rejection(Lane& lane, float mean) {
  const RoughGamma<Math> gamma(mean);
  const float log_mean = Math::rough_log(mean);
  constexpr double least = 1e-20;
  while (true) {
    const float x = std::floor(gamma.inverse(lane.uniform()));
    const float bound = (gamma(x + 1) - gamma(x)) * 1.3f;
    const float tried = lane.uniform() * bound;
    const float logarithm = Math::multiply_add(x, log_mean, -mean) -
                            float(log_gamma_of_integer(static_cast<int>(1 + x)));
    if (tried < Math::rough_exp(logarithm) && bound >= least) return std::uint32_t(x);
  }
}

template <class Math, class Lane>
std::uint32_t poisson_of_device_functions(Lane& lane, float mean) {
  constexpr float least_of_rejection = 64;
  return mean < least_of_rejection ? poisson_of_products<Math>(lane, mean)
                                   : poisson_by_rejection<Math>(lane, mean);
}

}  // namespace inflight::curand
