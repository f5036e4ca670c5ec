// Poisson distributions as cuRAND makes them: from a table, or rounded from normal numbers.
#pragma once
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
    const auto bin = std::uint32_t(double(value.size()) * u);
    return shift + (u < value[bin] ? bin : other[bin]);
  }
};

class Poisson {
 public:
  static bool takes(double mean);
  explicit Poisson(double mean);
  const double mean, deviation;
  const Histogram table;  // empty for great means
  bool has_table() const { return !table.value.empty(); }
  // A result of a normal number, for great means.
  std::uint32_t rounded(double normal) const;
};

}  // namespace inflight::curand
