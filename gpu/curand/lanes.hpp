// The subsequences of pseudorandom generators, and what distributions make of their words.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "gpu/curand/math.hpp"

namespace inflight::curand {

template <class Real>
struct Pair {
  Real x, y;
};

// Box and Muller's transform of uniform numbers: u in (0, 1], and an angle (f64: its part of pi).
template <class Math>
Pair<float> box_muller(float u, float angle) {
  const float length = std::sqrt(-2.0f * Math::log(u));
  const auto turn = Math::turn(angle);
  return {turn.sine * length, turn.cosine * length};
}
template <class Math>
Pair<double> box_muller(double u, double part) {
  const double length = std::sqrt(-2.0 * Math::log(u));
  const auto turn = Math::turn_of_pi(part);
  return {turn.sine * length, turn.cosine * length};
}

inline float unit_float(std::uint32_t word) { return std::fma(float(word), 0x1p-32f, 0x1p-33f); }
// 53 bits of two words.
inline std::uint64_t bits_of_double(std::uint32_t lower, std::uint32_t upper) {
  return lower ^ std::uint64_t{upper} << 21;
}

// What follows from a lane's words of 32 bits: Lane::bits() returns the next.
template <class Lane>
struct Words {
  float uniform() { return unit_float(next()); }
  double uniform_double() { return std::fma(double(next_53()), 0x1p-53, 0x1p-54); }
  template <class Math>
  Pair<float> normals() {
    constexpr float turn = 0x1p-32f * 0x1.921fb6p2f;
    const float u = uniform();
    return box_muller<Math>(u, Math::multiply_add(float(next()), turn, turn / 2));
  }
  template <class Math>
  Pair<double> double_normals() {
    const double u = uniform_double();
    return box_muller<Math>(u, std::fma(double(next_53()), 0x1p-52, 0x1p-53));
  }

 private:
  std::uint32_t next() { return static_cast<Lane*>(this)->bits(); }
  std::uint64_t next_53() {
    const std::uint32_t lower = next();
    return bits_of_double(lower, next());
  }
};

// Marsaglia's XORWOW ("Xorshift RNGs", 2003). Lanes are 2^67 words apart.
struct Xorwow : Words<Xorwow> {
  static constexpr bool quads = false;  // a lane makes one result at a time
  std::array<std::uint32_t, 5> v;
  std::uint32_t d;

  explicit Xorwow(std::uint64_t seed);
  std::uint32_t bits() {
    const std::uint32_t t = v[0] ^ v[0] >> 2;
    v = {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ t ^ t << 1};
    d += 362437;
    return v[4] + d;
  }
  void skip(std::uint64_t words);
  void skip_lane();
};

// Philox4x32-10 of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). A counter's lower half counts blocks of four words, its upper half lanes.
struct Philox : Words<Philox> {
  static constexpr bool quads = true;
  std::uint64_t seed, block = 0, lane = 0;
  std::uint32_t word = 0;  // of the block
  std::array<std::uint32_t, 4> output;

  explicit Philox(std::uint64_t seed) : seed(seed) {}
  std::uint32_t bits() {
    if (word == 0) compute();
    const std::uint32_t value = output[word];
    word = (word + 1) % 4;
    if (word == 0) ++block;
    return value;
  }
  void skip(std::uint64_t words);
  void skip_lane() { ++lane; }

 private:
  void compute();
};

// L'Ecuyer's MRG32k3a ("Good parameters and implementations for combined multiple recursive random
// number generators", 1999). Lanes are 2^76 words apart.
struct Mrg32k3a {
  static constexpr bool quads = false;
  using State = std::array<std::uint32_t, 3>;
  State a, b;

  explicit Mrg32k3a(std::uint64_t seed);
  std::uint32_t next();  // in [1, 2^32 - 209]
  std::uint32_t bits() { return std::uint32_t(double(next()) * 1.000000048662); }
  float uniform() { return float(uniform_double()); }
  double uniform_double() { return double(next()) * 2.3283065498378288e-10; }
  template <class Math>
  Pair<float> normals() {
    const float u = uniform();
    return box_muller<Math>(u, uniform() * 0x1.921fb6p2f);
  }
  template <class Math>
  Pair<double> double_normals() {
    const double u = uniform_double();
    return box_muller<Math>(u, uniform_double() * 2);
  }
  void skip(std::uint64_t words);
  void skip_lane();
};

}  // namespace inflight::curand
