// A texture's parameters, a read from it, and the text that names both in the output.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace texture_truth {

// Pseudo-random numbers from a seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  std::uint32_t bits() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
  }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint32_t>(n)); }
  double unit() { return bits() / 4294967296.0; }  // [0, 1)
  double between(double low, double high) { return low + (high - low) * unit(); }

 private:
  std::uint64_t state_;
};

enum class Shape { line, plane, volume, lines, planes, cube, cubes, linear, pitched };
inline const char* name_of(Shape s) {
  static const char* const names[] = {"1d",   "2d",    "3d",     "a1d",    "a2d",
                                      "cube", "acube", "linear", "pitched"};
  return names[static_cast<int>(s)];
}

struct Format {
  char kind = 'f';  // u, s, f
  int bits = 32, channels = 4;
  int bytes() const { return bits / 8 * channels; }
};

// The texels' contents: a ramp, numbers of a moderate size, or arbitrary bits.
enum class Texels { ramp, noise, any };

struct Texture {
  Shape shape = Shape::plane;
  int width = 16, height = 9, depth = 1, levels = 1;  // depth of a volume, or layers
  Format format;
  Texels texels = Texels::noise;
  int address[3] = {1, 1, 1};  // 0 wrap, 1 clamp, 2 mirror, 3 border
  bool linear = false, normalized = false, as_float = false, srgb = false, seamless = false;
  float border[4] = {0, 0, 0, 0};
  bool mip_linear = false;
  float bias = 0, least = 0, greatest = 0;
  unsigned anisotropy = 0;
};

// How a read selects its level.
enum class Level { base, level, grad };
// The result type in the instruction.
enum class Result { f32, u32, s32, f16 };
struct Read {
  Shape shape = Shape::plane;  // of the instruction
  Level level = Level::base;
  bool integer = false;  // integer coordinates
  int gather = -1;       // the component of tld4
  bool offset = false;
  Result result = Result::f32;
};

struct Case {
  Texture texture;
  Read read;
};

inline std::string to_text(const Case& c) {
  const Texture& t = c.texture;
  const Read& r = c.read;
  std::string s = r.gather >= 0 ? std::string("tld4.") + "rgba"[r.gather] + "." : "tex.";
  if (r.level != Level::base) s += r.level == Level::level ? "level." : "grad.";
  s += name_of(r.shape);
  static const char* const results[] = {".f32", ".u32", ".s32", ".f16"};
  s += results[static_cast<int>(r.result)];
  s += r.integer ? ".s32" : ".f32";
  if (r.offset) s += ".offset";
  s += std::string("/") + name_of(t.shape) + "-" + std::to_string(t.width);
  if (t.shape != Shape::line && t.shape != Shape::linear) s += "x" + std::to_string(t.height);
  if (t.depth > 1) s += "x" + std::to_string(t.depth);
  if (t.levels > 1) s += "-levels" + std::to_string(t.levels);
  s += std::string("/") + t.format.kind + std::to_string(t.format.bits) + "x" +
       std::to_string(t.format.channels);
  static const char* const texels[] = {"-ramp", "", "-any"};
  s += texels[static_cast<int>(t.texels)];
  s += t.linear ? "/linear-" : "/point-";
  for (int a : t.address) s += "wcmb"[a];
  if (t.normalized) s += "-normalized";
  if (t.as_float) s += "-float";
  if (t.srgb) s += "-srgb";
  if (t.seamless) s += "-seamless";
  if (t.levels > 1) s += t.mip_linear ? "-miplinear" : "-mippoint";
  if (t.border[0] != 0) s += "-coloured";
  if (t.bias != 0) s += "-bias" + std::to_string(static_cast<int>(t.bias * 100));
  if (t.least != 0) s += "-least" + std::to_string(static_cast<int>(t.least * 100));
  if (t.levels > 1 && t.greatest < 99)
    s += "-greatest" + std::to_string(static_cast<int>(t.greatest * 100));
  if (t.anisotropy > 1) s += "-aniso" + std::to_string(t.anisotropy);
  return s;
}

// The bytes of `count` texels of one level.
inline std::vector<unsigned char> texels_of(const Texture& t, std::size_t count, int level) {
  std::vector<unsigned char> bytes(count * static_cast<std::size_t>(t.format.bytes()));
  Random random(7919u * static_cast<unsigned>(level) + 17);
  const int step = t.format.bits / 8;
  for (std::size_t i = 0; i < count * static_cast<std::size_t>(t.format.channels); ++i) {
    const std::size_t texel = i / static_cast<std::size_t>(t.format.channels);
    std::uint32_t v = random.bits();
    if (t.format.kind == 'f') {
      float f = static_cast<float>(texel) + 1000.0f * static_cast<float>(level);
      if (t.texels == Texels::noise)
        f = static_cast<float>(static_cast<int>(v >> 8) - (1 << 23)) / 65536.0f;
      if (t.texels != Texels::any) std::memcpy(&v, &f, 4);
      if (t.format.bits == 16 && t.texels == Texels::ramp) v = static_cast<std::uint32_t>(texel);
      if (t.format.bits == 16 && t.texels == Texels::noise)
        v = (random.bits() & 0x83ff) | (0x2800 + (random.bits() % 0x5000 & 0x7c00));
    } else if (t.texels == Texels::ramp) {
      v = static_cast<std::uint32_t>(texel) + 100u * static_cast<std::uint32_t>(level);
    }
    std::memcpy(&bytes[i * static_cast<std::size_t>(step)], &v, static_cast<std::size_t>(step));
  }
  return bytes;
}

}  // namespace texture_truth
