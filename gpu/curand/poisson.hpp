// Poisson distributions as cuRAND makes them: from a table, rounded from normal numbers, or as
// device functions do (rejection.hpp).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace inflight::curand {

// An alias table: a square histogram of Marsaglia, Tsang and Wang ("Fast generation of discrete
// random variables", 2004). Bin j of equal width holds the result `shift` + j below value[j], and
// `shift` + other[j] from there.
struct Histogram {
  std::uint32_t shift = 0;
  std::vector<double> value;
  std::vector<std::uint32_t> other;

  std::uint32_t operator()(double u) const {
    const auto bin = std::min(std::uint32_t(double(value.size()) * u),
                              std::uint32_t(value.size() - 1));  // u can be 1
    return shift + (u < value[bin] ? bin : other[bin]);
  }
};

// `best` is a table. `third` is CURAND_3RD: a table, and for great means what device functions do.
// `search` is for sequences whose order must not change: the sums of probabilities.
enum class PoissonMethod : std::uint8_t { best, of_device_functions, third, search };

class Poisson {
 public:
  static constexpr double least_rounded = 2000;  // among means, where there is a table for lesser
  static bool takes(double mean);
  Poisson(double mean, PoissonMethod method);
  const double mean, deviation;
  const PoissonMethod method;
  const Histogram table;
  bool has_table() const { return !table.value.empty(); }
  bool has_sums() const { return !sums_.empty(); }
  // The least result that is not exceeded with probability u.
  std::uint32_t quantile(double u) const;
  // Device functions round normal numbers for means as great as this.
  bool rounds_device_functions() const { return mean > 4000; }

  // The result of a normal number, for great means.
  template <class Math>
  std::uint32_t rounded(double normal) const {
    return Math::whole(Math::multiply_add(deviation, normal, mean) + 0.5);
  }

 private:
  const std::uint32_t first_;  // the result of the first sum
  const std::vector<double> sums_;
};

double log_gamma_of_integer(int n);

}  // namespace inflight::curand
