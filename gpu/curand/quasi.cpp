// Sobol's quasirandom sequences. A call's results are those of the first dimension, then of the
// next. Point i is the exclusive or of the directions that the Gray code of i names.
#include <bit>
#include <cstring>

#include "gpu/curand/directions.hpp"
#include "gpu/curand/kinds.hpp"
#include "gpu/curand/math.hpp"

namespace inflight::curand {
namespace {

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

template <class Word, class Math>
class Sobol final : public Sequence {
 public:
  explicit Sobol(std::uint32_t dimensions) : dimensions_(dimensions) {}

  // A place is a point.
  std::uint64_t places(const Distribution&, std::size_t count) const override {
    return count / dimensions_;
  }
  void generate(const Distribution& d, void* out, std::size_t count, std::uint64_t place) override {
    using One = Made<Word>;
    const double mean = d.mean, deviation = d.deviation;
    const auto normal = [=](const One& one) {
      return Math::multiply_add(one.normal(), float(deviation), float(mean));
    };
    const auto normal_double = [=](const One& one) {
      return Math::multiply_add(one.normal_double(), deviation, mean);
    };
    const auto points = [&]<class Make>(Make make) { each(out, count, place, make); };
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
        return points([&](const One& one) { return poisson(*d.poisson, one); });
    }
  }

 private:
  template <class Make>
  void each(void* out, std::size_t count, std::uint64_t place, Make make) {
    auto* to = static_cast<char*>(out);
    constexpr int bits = sizeof(Word) * 8;
    for (std::uint32_t dimension = 0; dimension < dimensions_; ++dimension) {
      const Directions& all = directions(dimension);
      const auto direction = [&](int i) { return Word(all[std::size_t(i)] >> (64 - bits)); };
      const std::uint64_t first = Word(place), code = first ^ first >> 1;
      Word word = 0;
      for (int i = 0; i < bits; ++i)
        if (code >> i & 1) word ^= direction(i);
      for (std::uint64_t i = 0; i < count / dimensions_; ++i) {
        const auto result = make(Made<Word>{word});
        std::memcpy(to, &result, sizeof result);
        to += sizeof result;
        const int changed = std::countr_one(first + i);
        if (changed < bits) word ^= direction(changed);
      }
    }
  }

  static std::uint32_t poisson(const Poisson& p, const Made<Word>& one) {
    if (p.has_table()) return p.table(one.uniform_double());
    if (p.has_sums()) return p.quantile(one.uniform_double());
    return p.template rounded<Math>(one.normal());
  }

  std::uint32_t dimensions_;
};

template <class Word>
std::unique_ptr<Sequence> sobol(const Start& start) {
  if (start.on_host) return std::make_unique<Sobol<Word, HostMath>>(start.dimensions);
  return std::make_unique<Sobol<Word, DeviceMath>>(start.dimensions);
}

}  // namespace

std::unique_ptr<Sequence> make_quasi(const Start& start) {
  return start.kind == Kind::sobol64 ? sobol<std::uint64_t>(start) : sobol<std::uint32_t>(start);
}

}  // namespace inflight::curand
