// Seeds of the generators' lanes, and jumps in their sequences: powers of the matrix of one step.
#include "gpu/curand/lanes.hpp"

#include <vector>

namespace inflight::curand {
namespace {

// A linear map on the 160 bits of XORWOW's v: the images of the bits.
class Shifts {
 public:
  using Vector = std::array<std::uint32_t, 5>;
  // That of one step.
  Shifts() : images_(160) {
    Xorwow one(0);
    for (std::size_t bit = 0; bit < images_.size(); ++bit) {
      one.v = {};
      one.v[bit / 32] = 1u << bit % 32;
      one.bits();
      images_[bit] = one.v;
    }
  }
  Vector operator()(const Vector& v) const {
    Vector sum{};
    for (std::size_t bit = 0; bit < images_.size(); ++bit)
      if (v[bit / 32] >> bit % 32 & 1)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] ^= images_[bit][i];
    return sum;
  }
  Shifts squared() const {
    Shifts square = *this;
    for (Vector& each : square.images_) each = (*this)(each);
    return square;
  }

 private:
  std::vector<Vector> images_;
};

// [i] is 2^i steps.
const std::vector<Shifts>& shifts() {
  static const auto& all = *new std::vector<Shifts>([] {
    constexpr std::size_t lanes_apart = 67;
    std::vector<Shifts> powers(1);
    while (powers.size() <= lanes_apart) powers.push_back(powers.back().squared());
    return powers;
  }());
  return all;
}

// MRG32k3a's two recurrences, as matrices of one step on the last three numbers, oldest first.
using Matrix = std::array<std::array<std::uint64_t, 3>, 3>;
struct Recurrence {
  std::uint64_t modulus;
  Matrix step;
};
constexpr std::uint64_t modulus_a = 4294967087, modulus_b = 4294944443;
constexpr Recurrence recurrences[2] = {
    {modulus_a, {{{0, 1, 0}, {0, 0, 1}, {modulus_a - 810728, 1403580, 0}}}},
    {modulus_b, {{{0, 1, 0}, {0, 0, 1}, {modulus_b - 1370589, 0, 527612}}}}};

Matrix product(const Matrix& x, const Matrix& y, std::uint64_t modulus) {
  Matrix all{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) all[i][j] = (all[i][j] + x[i][k] * y[k][j] % modulus) % modulus;
  return all;
}
Mrg32k3a::State image(const Matrix& map, const Mrg32k3a::State& state, std::uint64_t modulus) {
  Mrg32k3a::State all{};
  for (int i = 0; i < 3; ++i) {
    std::uint64_t sum = 0;
    for (int k = 0; k < 3; ++k) sum = (sum + map[i][k] * state[k] % modulus) % modulus;
    all[i] = std::uint32_t(sum);
  }
  return all;
}
// [r][i] is 2^i steps of recurrence r.
const std::vector<Matrix>& steps(int recurrence) {
  static const auto& all = *new std::array<std::vector<Matrix>, 2>([] {
    constexpr std::size_t lanes_apart = 76;
    std::array<std::vector<Matrix>, 2> powers;
    for (int r = 0; r < 2; ++r) {
      powers[r] = {recurrences[r].step};
      while (powers[r].size() <= lanes_apart)
        powers[r].push_back(product(powers[r].back(), powers[r].back(), recurrences[r].modulus));
    }
    return powers;
  }());
  return all[recurrence];
}
void jump(Mrg32k3a& lane, std::size_t power) {
  lane.a = image(steps(0)[power], lane.a, modulus_a);
  lane.b = image(steps(1)[power], lane.b, modulus_b);
}

}  // namespace

Xorwow::Xorwow(std::uint64_t seed) {
  const std::uint32_t x = (std::uint32_t(seed) ^ 0xaad26b49) * 1099087573,
                      y = (std::uint32_t(seed >> 32) ^ 0xf7dcefdd) * 2591861531;
  v = {123456789 + x, 362436069 ^ x, 521288629 + y, 88675123 ^ y, 5783321 + x};
  d = 6615241 + x + y;
}
void Xorwow::skip(std::uint64_t words) {
  for (std::size_t i = 0; i < 64; ++i)
    if (words >> i & 1) v = shifts()[i](v);
  d += std::uint32_t(words) * 362437;
}
void Xorwow::skip_lane() { v = shifts()[67](v); }

void Philox::compute() {
  std::array<std::uint32_t, 4> c = {std::uint32_t(block), std::uint32_t(block >> 32),
                                    std::uint32_t(lane), std::uint32_t(lane >> 32)};
  std::uint32_t x = std::uint32_t(seed), y = std::uint32_t(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53} * c[0], q = std::uint64_t{0xCD9E8D57} * c[2];
    c = {std::uint32_t(q >> 32) ^ c[1] ^ x, std::uint32_t(q), std::uint32_t(p >> 32) ^ c[3] ^ y,
         std::uint32_t(p)};
    x += 0x9E3779B9;
    y += 0xBB67AE85;
  }
  output = c;
}
void Philox::skip(std::uint64_t words) {
  block += words / 4 + (word + words % 4) / 4;
  word = (word + words) % 4;
  if (word) compute();
}

Mrg32k3a::Mrg32k3a(std::uint64_t seed) : a{12345, 12345, 12345}, b(a) {
  if (!seed) return;
  const std::uint64_t x = std::uint32_t(seed) ^ 0x55555555,
                      y = std::uint32_t(seed >> 32) ^ 0xAAAAAAAA;
  const auto times = [](std::uint64_t factor, std::uint32_t number, std::uint64_t modulus) {
    return std::uint32_t(factor * number % modulus);
  };
  a = {times(x, a[0], modulus_a), times(y, a[1], modulus_a), times(x, a[2], modulus_a)};
  b = {times(y, b[0], modulus_b), times(x, b[1], modulus_b), times(y, b[2], modulus_b)};
}
std::uint32_t Mrg32k3a::next() {
  const std::uint64_t x = (1403580ull * a[1] + 810728ull * (modulus_a - a[0])) % modulus_a,
                      y = (527612ull * b[2] + 1370589ull * (modulus_b - b[0])) % modulus_b;
  a = {a[1], a[2], std::uint32_t(x)};
  b = {b[1], b[2], std::uint32_t(y)};
  return std::uint32_t(x <= y ? x - y + modulus_a : x - y);
}
void Mrg32k3a::skip(std::uint64_t words) {
  for (std::size_t i = 0; i < 64; ++i)
    if (words >> i & 1) jump(*this, i);
}
void Mrg32k3a::skip_lane() { jump(*this, 76); }

}  // namespace inflight::curand
