// The coordinates of a case's reads: special ones first, then several kinds of pseudo-random ones.
#pragma once
#include <cmath>
#include <limits>

#include "case.hpp"

namespace texture_truth {

constexpr int samples = 1024;  // per case

struct Point {
  float at[3];
  int texel[3];  // for integer coordinates
  int layer;
  float level;
  float dx[3], dy[3];
};

inline float special(int i, double size) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto f = [](double x) { return static_cast<float>(x); };
  const float values[] = {0,
                          -0.0f,
                          f(0.5),
                          f(1),
                          f(-1),
                          inf,
                          -inf,
                          std::numeric_limits<float>::quiet_NaN(),
                          f(1e-40),
                          f(-1e-40),
                          f(size),
                          std::nextafter(f(size), 0.0f),
                          std::nextafter(f(size), inf),
                          std::nextafter(0.0f, -1.0f),
                          f(-size),
                          f(2 * size),
                          f(0.5 * size),
                          f(0x1p23),
                          f(0x1p24),
                          f(-0x1p24),
                          f(0x1p31),
                          f(-0x1p31),
                          f(0x1p32),
                          f(3e38),
                          f(-3e38),
                          f(0x1p22 + 0.5),
                          f(65536.5),
                          f(-65536.25),
                          f(32767.75),
                          f(0.25),
                          f(0x1p-126),
                          f(0x1p40)};
  return values[i % 32];
}
constexpr int specials = 32;

// One coordinate in a dimension of `size` texels. `unit` is 1 / size if normalised.
inline float coordinate(Random& random, int sort, double size, double unit) {
  const int k = random.below(static_cast<int>(4 * size) + 1) - static_cast<int>(1.5 * size);
  const double j = random.below(1025) / 1024.0;
  double x = 0;
  switch (sort) {
    case 0:
      x = random.between(-1.5, 2.5) * size;
      break;
    case 1:  // on the grid of fractions, and halfway between two
      x = k + j;
      break;
    case 2:  // close to the grid
      x = k + j + (random.below(2) ? 1 : -1) * std::ldexp(1.0, -8 - random.below(16));
      break;
    case 3:  // inside
      x = random.unit() * size;
      break;
    default:
      x = std::ldexp(random.between(-1, 1), random.below(44) - 24);
      break;
  }
  return static_cast<float>(x * unit);
}

inline float direction(Random& random, int sort) {
  static const float few[] = {0, 1, -1, 0.5f, -0.5f, 0.25f, -0.0f, 2};
  if (sort == 0) return few[random.below(8)];
  if (sort == 1) return static_cast<float>(random.below(33) - 16) / 16.0f;
  return static_cast<float>(random.between(-1, 1) * (sort == 2 ? 1 : 1000));
}

inline std::vector<Point> points_of(const Case& c) {
  const Texture& t = c.texture;
  const bool cube = c.read.shape == Shape::cube || c.read.shape == Shape::cubes;
  Random random(static_cast<unsigned>(t.width) * 31u + static_cast<unsigned>(c.read.shape));
  std::vector<Point> points(samples);
  const double sizes[] = {static_cast<double>(t.width), static_cast<double>(t.height),
                          static_cast<double>(t.depth)};
  for (int i = 0; i < samples; ++i) {
    Point& p = points[static_cast<std::size_t>(i)];
    const int sort = random.below(5);
    for (int d = 0; d < 3; ++d) {
      const double unit = t.normalized ? 1 / sizes[d] : 1;
      p.at[d] = cube ? direction(random, sort % 4) : coordinate(random, sort, sizes[d], unit);
      if (i / specials == d) p.at[d] = special(i, cube || t.normalized ? 1 : sizes[d]);
      p.texel[d] = random.below(static_cast<int>(4 * sizes[d]) + 1) - static_cast<int>(sizes[d]);
      if (random.below(16) == 0) p.texel[d] = static_cast<int>(random.bits());
      const double size = std::ldexp(random.between(-1, 1), random.below(12) - 5);
      p.dx[d] = static_cast<float>(size * unit);
      p.dy[d] = static_cast<float>(std::ldexp(random.between(-1, 1), random.below(12) - 5) * unit);
      if (random.below(4) == 0) p.dy[d] = 0;
      if (random.below(8) == 0) p.dx[d] = 0;
    }
    p.layer = random.below(8) - 2;
    if (random.below(16) == 0) p.layer = static_cast<int>(random.bits());
    p.level = static_cast<float>(random.below(2) ? random.between(-3, t.levels + 2)
                                                 : (random.below(2048 * t.levels) - 512) / 2048.0);
    if (i < 128 && i % 4 == 3) p.level = special(i / 4, t.levels);
  }
  return points;
}

}  // namespace texture_truth
