// Each dimension but the first has a primitive polynomial over the integers modulo 2, in order of
// their degrees and coefficients, and begins with published numbers. A recurrence gives the others.
#include "gpu/curand/directions.hpp"

#include <vector>

#include "gpu/curand/joe_kuo.hpp"

namespace inflight::curand {
namespace {

// Polynomials are bits. The product modulo `modulus` of the given degree.
std::uint32_t product(std::uint32_t a, std::uint32_t b, std::uint32_t modulus, int degree) {
  std::uint32_t sum = 0;
  for (; b; b >>= 1) {
    if (b & 1) sum ^= a;
    a <<= 1;
    if (a >> degree & 1) a ^= modulus;
  }
  return sum;
}
std::uint32_t power_of_x(std::uint32_t exponent, std::uint32_t modulus, int degree) {
  std::uint32_t result = 1, square = degree == 1 ? 2 ^ modulus : 2;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result = product(result, square, modulus, degree);
    square = product(square, square, modulus, degree);
  }
  return result;
}

// True if the powers of x are all polynomials of lesser degree but 0.
bool primitive(std::uint32_t polynomial, int degree) {
  const std::uint32_t order = (1u << degree) - 1;
  if (power_of_x(order, polynomial, degree) != 1) return false;
  for (std::uint32_t rest = order, factor = 2; rest > 1; ++factor) {
    if (rest % factor) continue;
    if (power_of_x(order / factor, polynomial, degree) == 1) return false;
    while (rest % factor == 0) rest /= factor;
  }
  return true;
}

// Reads the numbers of joe_kuo.hpp.
class Numbers {
 public:
  std::uint64_t next(int bits) {
    std::uint64_t number = 0;
    for (int i = 0; i < bits; ++i, ++at_)
      number = number << 1 | (joe_kuo[at_ / 64] >> (63 - at_ % 64) & 1);
    return number << 1 | 1;
  }

 private:
  std::size_t at_ = 0;
};

Directions from(std::uint32_t polynomial, int degree, Numbers& numbers) {
  Directions m{};
  for (int i = 0; i < int(m.size()); ++i) {
    if (i < degree) {
      m[i] = numbers.next(i);
      continue;
    }
    m[i] = m[i - degree] ^ m[i - degree] << degree;
    for (int j = 1; j < degree; ++j)
      if (polynomial >> (degree - j) & 1) m[i] ^= m[i - j] << j;
  }
  for (int i = 0; i < int(m.size()); ++i) m[i] <<= 63 - i;
  return m;
}

std::vector<Directions> all_directions() {
  std::vector<Directions> all(1);
  for (int i = 0; i < int(all[0].size()); ++i) all[0][i] = std::uint64_t{1} << (63 - i);
  Numbers numbers;
  for (int degree = 1;; ++degree)
    for (std::uint32_t middle = 0; middle < 1u << (degree - 1); ++middle) {
      const std::uint32_t polynomial = 1u << degree | middle << 1 | 1;
      if (!primitive(polynomial, degree)) continue;
      if (all.size() == most_directions) return all;
      all.push_back(from(polynomial, degree, numbers));
    }
}

}  // namespace

const Directions& directions(std::uint32_t index) {
  static const auto& all = *new std::vector<Directions>(all_directions());
  return all[index];
}

}  // namespace inflight::curand
