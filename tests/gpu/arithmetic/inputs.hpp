// The operands' values: special ones first in every combination, then pseudo-random ones.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

using Cell = unsigned long long;

constexpr int samples = 4096;  // per form
constexpr int shown = 24;      // printed samples

inline const std::vector<Cell>& specials(char kind) {
  static const std::vector<Cell> integers{0,
                                          1,
                                          ~0ull,
                                          7,
                                          ~6ull,
                                          0x7f,
                                          0x80,
                                          0xff,
                                          0x7fff,
                                          0x8000,
                                          0xffff,
                                          0x7fffffff,
                                          0x80000000,
                                          0xffffffff,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          0xffffffff80000000,
                                          0xffffffffffff8000,
                                          0x8000800080008000,
                                          0x0123456789abcdef};
  static const std::vector<Cell> shifts{0,  1,  4,  7,  8,  15,  16,  17,  31,         32,
                                        33, 40, 63, 64, 65, 255, 256, 257, 0x80000000, 0xffffffff};
  static const std::vector<Cell> flags{0, 1};
  static const std::vector<Cell> offsets{0, 1, ~0ull, 2, ~1ull, 5, ~4ull, 31, ~30ull, 32, ~31ull};
  static const std::vector<Cell> f32{0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                     0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x00000001,
                                     0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x7f7fffff,
                                     0xff7fffff, 0x3f000000, 0x4b000000, 0xcf000000, 0x3fc00000,
                                     0x7f000000, 0x3f7fffff, 0xc2fe0000, 0x33800000};
  static const std::vector<Cell> f64{
      0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
      0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8123456789abc,
      0x7ff0123456789abc, 0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff,
      0x0010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000,
      0x4330000000000000, 0xc3e0000000000000, 0x3ff8000000000000, 0x36a0000000000000,
      0x3810000000000000, 0x47efffffffffffff, 0x41dfffffffc00000, 0x3e70000000000000};
  static const std::vector<Cell> f16{0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00,
                                     0x7e00, 0xfe12, 0x7c34, 0x0001, 0x8001, 0x03ff,
                                     0x0400, 0x8400, 0x7bff, 0xfbff, 0x3800, 0x6400,
                                     0x3e00, 0x3bff, 0xd7f0, 0x7fff, 0x5bff, 0x1000};
  static const std::vector<Cell> bf16{0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80,
                                      0x7fc0, 0xffc1, 0x7f85, 0x0001, 0x8001, 0x007f,
                                      0x0080, 0x8080, 0x7f7f, 0xff7f, 0x3f00, 0x4b00,
                                      0x3fc0, 0x3f7f, 0xc2fe, 0x7fff, 0x4300, 0x3380};
  switch (kind) {
    case 's':
      return shifts;
    case 'p':
      return flags;
    case 't':
      return offsets;
    case 'f':
      return f32;
    case 'd':
      return f64;
    case 'h':
    case 'H':
      return f16;
    case 'b':
    case 'B':
      return bf16;
    default:
      return integers;
  }
}

class Random {
 public:
  explicit Random(Cell seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x1234567) {}
  Cell next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1d;
  }
  // Alternates between arbitrary bits and values of a moderate exponent.
  Cell value(char kind) {
    const Cell x = next(), moderate = next() & 1;
    switch (kind) {
      case 's':
        return x >> 58;
      case 'p':
        return x & 1;
      case 't':
        return static_cast<Cell>(static_cast<long long>(x >> 60) - 8);
      case 'f':
        return moderate ? (x & 0x807fffff) | (0x78 + (x >> 40 & 15)) << 23 : x & 0xffffffff;
      case 'd':
        return moderate ? (x & 0x800fffffffffffff) | (0x3f8 + (next() & 15)) << 52 : x;
      case 'h':
        return x & 0xffff;
      case 'b':
        return moderate ? (x & 0x807f) | (0x78 + (x >> 40 & 15)) << 7 : x & 0xffff;
      case 'H':
      case 'B':
      case 'e':
        return x & 0xffffffff;
      default:
        return moderate ? x : x >> (next() & 63);
    }
  }

 private:
  Cell state_;
};

inline bool is_pair(char kind) { return kind == 'H' || kind == 'B'; }

// The cells of operand `which` (0, 1, 2) of a form whose operands have these kinds.
inline std::vector<Cell> cells(const char* kinds, int which) {
  const int count = static_cast<int>(std::strlen(kinds));
  std::vector<Cell> out(samples);
  if (which >= count) return out;
  const auto& mine = specials(kinds[which]);
  const std::size_t others = which == 0 && count > 1 ? specials(kinds[1]).size() : 1;
  const std::size_t combinations =
      specials(kinds[0]).size() * (count > 1 ? specials(kinds[1]).size() : 1);
  Random random(static_cast<Cell>(kinds[which]) * 31 + static_cast<Cell>(which));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t pick = which == 2 ? i * 7 + i / 5 : i / others;
    const std::size_t other = which == 2 ? i * 3 + 1 : i / others * 5 + i + 2;
    const Cell special = mine[pick % mine.size()];
    const Cell pair = special | mine[other % mine.size()] << 16;
    const bool use_special = i < combinations || (count > 2 && i < 2 * combinations);
    out[i] = !use_special ? random.value(kinds[which]) : is_pair(kinds[which]) ? pair : special;
  }
  return out;
}
