// Seeded values for matrix elements of each format, in six mixtures.
#pragma once
#include <cstdint>
#include <initializer_list>

enum class Format { f16, bf16, tf32, f32, f64, e4m3, e5m2, s32, integer, bit };

struct Layout {
  int bits, exponent, mantissa;  // bits of an element; an integer has no exponent
};

inline Layout layout_of(Format f) {
  switch (f) {
    case Format::f16:
      return {16, 5, 10};
    case Format::bf16:
      return {16, 8, 7};
    case Format::tf32:
    case Format::f32:
      return {32, 8, 23};
    case Format::f64:
      return {64, 11, 52};
    case Format::e4m3:
      return {8, 4, 3};
    case Format::e5m2:
      return {8, 5, 2};
    default:
      return {32, 0, 0};
  }
}

// splitmix64, which gives the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  int below(int n) { return static_cast<int>((next() >> 33) % static_cast<unsigned>(n)); }

 private:
  std::uint64_t state_;
};

enum class Mixture { moderate, any, special, wide, cancelling, tiny };
inline constexpr const char* mixture_names[] = {"moderate", "any",        "special",
                                                "wide",     "cancelling", "tiny"};
inline constexpr int mixtures = 6;

// The elements of one matrix in one case.
class Elements {
 public:
  Elements(Format format, Mixture mixture, std::uint64_t seed)
      : random_(seed), is_(layout_of(format)), mixture_(mixture) {
    const int range = 1 << is_.exponent;
    centre_ = random_.below(range);
    constexpr int widths[] = {3, 8, 20, 40, 1 << 11};
    width_ = widths[random_.below(5)];
    common_ = with_exponent(is_.exponent ? range / 2 - 1 : 0);
    zero_ = random_.below(8) == 0;
  }

  std::uint64_t next() {
    if (!is_.exponent || mixture_ == Mixture::any) return random_.next() & mask();
    const int bias = (1 << (is_.exponent - 1)) - 1;
    switch (mixture_) {
      case Mixture::special:
        return random_.below(24) ? near(bias, 3) : special();
      case Mixture::wide:
        return near(centre_, width_);
      case Mixture::cancelling:
        return random_.below(4) ? common_ ^ (random_.next() & sign()) : near(bias, 12);
      case Mixture::tiny:
        return near(0, bias / 2 + 2);
      default:
        return near(bias, 3);
    }
  }

  // An element of an accumulator. In some cases the whole accumulator is zero.
  std::uint64_t next_or_zero() { return zero_ && mixture_ != Mixture::any ? 0 : next(); }

 private:
  std::uint64_t mask() const { return is_.bits == 64 ? ~0ull : (1ull << is_.bits) - 1; }
  std::uint64_t sign() const { return 1ull << (is_.bits - 1); }
  std::uint64_t with_exponent(int e) {
    const std::uint64_t most = (1u << is_.exponent) - 2;
    const std::uint64_t exponent = e < 0 ? 0 : static_cast<std::uint64_t>(e) < most ? e : most;
    const std::uint64_t fraction = random_.next() & ((1ull << is_.mantissa) - 1);
    return (random_.next() & sign()) | exponent << is_.mantissa | fraction;
  }
  std::uint64_t near(int exponent, int width) {
    return with_exponent(exponent - width + random_.below(2 * width + 1));
  }
  std::uint64_t special() {
    const std::uint64_t infinity = ((1ull << is_.exponent) - 1) << is_.mantissa;
    const std::uint64_t least_normal = 1ull << is_.mantissa;
    const std::uint64_t values[] = {0,
                                    0,
                                    infinity,
                                    infinity | 1,
                                    infinity | (least_normal - 1),
                                    infinity - 1,
                                    least_normal,
                                    1,
                                    least_normal - 1,
                                    infinity >> 1 & infinity};
    return values[random_.below(10)] | (random_.next() & sign());
  }

  Random random_;
  Layout is_;
  Mixture mixture_;
  int centre_, width_;
  std::uint64_t common_;
  bool zero_;
};

// Words of 32 bits, filled with elements.
inline void fill(Elements& from, Format format, bool accumulator, std::uint32_t* words, int count) {
  const int bits = layout_of(format).bits;
  if (bits == 64) {
    for (int i = 0; i + 1 < count; i += 2) {
      const std::uint64_t v = accumulator ? from.next_or_zero() : from.next();
      words[i] = static_cast<std::uint32_t>(v), words[i + 1] = static_cast<std::uint32_t>(v >> 32);
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    words[i] = 0;
    for (int at = 0; at < 32; at += bits)
      words[i] |= static_cast<std::uint32_t>(accumulator ? from.next_or_zero() : from.next()) << at;
  }
}
