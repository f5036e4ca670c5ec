// Distributions that make a result of one word, of 32 or 64 bits.
#pragma once
#include <cmath>
#include <cstdint>

#include "gpu/curand/distribution.hpp"
#include "gpu/curand/math.hpp"

namespace inflight::curand {

// What distributions make of a number of 32 or 64 bits. Normal numbers are those that as many
// others are below.
template <class Word>
struct Made {
  static constexpr bool wide = sizeof(Word) == 8;
  Word word;

  std::uint32_t upper() const { return wide ? std::uint32_t(std::uint64_t{word} >> 32) : word; }
  float uniform() const { return std::fma(float(upper()), 0x1p-32f, 0x1p-33f); }
  double uniform_double() const {
    if constexpr (wide) return std::fma(double(word >> 11), 0x1p-53, 0x1p-54);
    return std::fma(double(word), 0x1p-32, 0x1p-32);
  }
  float normal() const {
    const std::uint32_t bits = upper();
    const bool above = bits > 0x80000000;
    const float p = std::fma(float(above ? ~bits : bits), 0x1p-32f, 0x1p-33f);
    constexpr float root_of_2 = 0x1.6a09e6p0f;
    return (above ? root_of_2 : -root_of_2) * device::inverse_erfc(2 * p);
  }
  double normal_double() const {
    constexpr int bits = wide ? 53 : 32;
    constexpr std::uint64_t most = (std::uint64_t{1} << bits) - 1;
    const std::uint64_t kept = wide ? std::uint64_t{word} >> 11 : word;
    const bool above = kept > most / 2 + 1;
    constexpr double unit = wide ? 0x1p-53 : 0x1p-32;
    const double p = std::fma(double(above ? most - kept : kept), unit, unit / 2);
    constexpr double root_of_2 = 0x1.6a09e667f3bcdp0;
    return (above ? root_of_2 : -root_of_2) * device::inverse_erfc(2 * p);
  }
};

template <class Math, class Word>
std::uint32_t poisson_of(const Poisson& p, const Made<Word>& one) {
  if (p.has_table()) return p.table(one.uniform_double());
  if (p.has_sums()) return p.quantile(one.uniform_double());
  return p.template rounded<Math>(one.normal());
}

// Calls points(make), where make(Made) is the distribution's result.
template <class Word, class Math, class Points>
void distribute(const Distribution& d, Points points) {
  using One = Made<Word>;
  const double mean = d.mean, deviation = d.deviation;
  const auto normal = [=](const One& one) {
    return Math::multiply_add(one.normal(), float(deviation), float(mean));
  };
  const auto normal_double = [=](const One& one) {
    return Math::multiply_add(one.normal_double(), deviation, mean);
  };
  switch (d.form) {
    case Form::bits:
    case Form::long_bits:
      return points([](const One& one) { return one.word; });
    case Form::uniform:
      return points([](const One& one) { return one.uniform(); });
    case Form::uniform_double:
      return points([](const One& one) { return one.uniform_double(); });
    case Form::normal:
      return points(normal);
    case Form::normal_double:
      return points(normal_double);
    case Form::log_normal:
      return points([=](const One& one) { return Math::exp(normal(one)); });
    case Form::log_normal_double:
      return points([=](const One& one) { return Math::exp(normal_double(one)); });
    case Form::poisson:
      return points([&](const One& one) { return poisson_of<Math>(*d.poisson, one); });
  }
}

}  // namespace inflight::curand
