#include "gpu/curand/poisson.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace inflight::curand {

// log (n - 1)!: Stirling's formula with the coefficients of approximation 5404 of Hart et al,
// "Computer Approximations" (Wiley, 1968).
double log_gamma_of_integer(int n) {
  constexpr double small[] = {0,
                              0,
                              6.931471805599453094e-1,
                              1.791759469228055001,
                              3.178053830347945620,
                              4.787491742782045994,
                              6.579251212010100995,
                              8.525161361065414300};
  if (n <= 8) return small[n - 1];
  const double x = n, inverse = 1 / x, square = inverse * inverse;
  double sum = -0.1633436431e-2;
  for (double each : {0.83645878922e-3, -0.5951896861197e-3, 0.793650576493454e-3,
                      -0.277777777735865004e-2, 0.833333333333331018375e-1})
    sum = sum * square + each;
  sum = sum * inverse + 0.918938533204672;
  const double product = 0.5 * std::log(x) * (x - 0.5);
  return (product - x) + (product + sum);
}

namespace {

constexpr double greatest = 400000;

double probability(double mean, int k) {
  return std::exp(-mean + k * std::log(mean) - log_gamma_of_integer(k + 1));
}

// The results with a probability above 0.
struct Range {
  int first, last;
};
Range range_of(double mean) {
  int first = int(mean), last = first;
  while (first > 0 && probability(mean, first - 1) > 0) --first;
  while (probability(mean, last + 1) > 0) ++last;
  return {first, last};
}

std::vector<double> sums(double mean) {
  std::vector<double> all;
  const Range range = range_of(mean);
  double sum = 0;
  for (int k = range.first; k <= range.last; ++k) all.push_back(sum += probability(mean, k));
  return all;
}

// Robin Hood's method: bins below the average width are filled up from the last bin above it, in
// passes from the first bin to the last.
Histogram histogram(double mean) {
  Histogram all;
  const Range range = range_of(mean);
  const auto bins = std::uint32_t(range.last - range.first + 1);
  const double width = 1.0 / bins;
  all.shift = std::uint32_t(range.first);
  std::vector<double> part(bins);
  std::vector<std::uint32_t> rich;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> poor, next;
  for (std::uint32_t i = 0; i < bins; ++i) {
    part[i] = probability(mean, range.first + int(i));
    all.other.push_back(i);
    if (part[i] < width)
      poor.push(i);
    else
      rich.push_back(i);
  }
  while (!rich.empty() && !(poor.empty() && next.empty())) {
    if (poor.empty()) poor.swap(next);
    const std::uint32_t to = poor.top(), from = rich.back();
    poor.pop();
    all.other[to] = from;
    part[from] -= width - part[to];
    if (part[from] >= width) continue;
    rich.pop_back();
    (from > to ? poor : next).push(from);
  }
  all.value.resize(bins);
  for (std::uint32_t i = 0; i < bins; ++i) all.value[i] = i * width + part[i];
  return all;
}

}  // namespace

bool Poisson::takes(double mean) { return !(mean <= 0 || mean > greatest); }

Poisson::Poisson(double mean, PoissonMethod method)
    : mean(mean),
      deviation(std::sqrt(mean)),
      method(method),
      table(mean < Poisson::least_rounded &&
                    (method == PoissonMethod::best || method == PoissonMethod::third)
                ? histogram(mean)
                : Histogram{}),
      first_(method == PoissonMethod::search ? std::uint32_t(range_of(mean).first) : 0),
      sums_(method == PoissonMethod::search ? sums(mean) : std::vector<double>{}) {}

std::uint32_t Poisson::quantile(double u) const {
  const auto found = std::lower_bound(sums_.begin(), sums_.end() - 1, u);
  return first_ + std::uint32_t(found - sums_.begin());
}

}  // namespace inflight::curand
