// The number formats of tensor cores, and how to decode them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace inflight::tensor {

enum class Element : std::uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32,
  // In the low bits of a byte:
  e2m3,
  e3m2,
  e2m1
};

struct Format {
  std::uint8_t bits;         // of an element in memory
  std::uint8_t exponent;     // bits; 0: an integer
  std::uint8_t fraction;     // bits; without tf32's lowest 13, which have no meaning
  std::uint8_t ignored = 0;  // low bits without meaning
  bool is_signed = true;
  bool has_infinity =
      true;  // false for e4m3: its highest exponent holds numbers, and only all ones is NaN
  bool has_nan = true;  // false: all its values are numbers
  constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
  constexpr int least() const { return 1 - bias(); }  // the exponent of subnormals
  constexpr bool is_integer() const { return exponent == 0; }
};

constexpr Format formats[] = {{16, 5, 10},
                              {16, 8, 7},
                              {32, 8, 10, 13},
                              {32, 8, 23},
                              {64, 11, 52},
                              {8, 4, 3, 0, true, false},
                              {8, 5, 2},
                              {8, 0, 0},
                              {8, 0, 0, 0, false},
                              {4, 0, 0},
                              {4, 0, 0, 0, false},
                              {1, 0, 0, 0, false},
                              {32, 0, 0},
                              {8, 2, 3, 0, true, false, false},
                              {8, 3, 2, 0, true, false, false},
                              {8, 2, 1, 0, true, false, false}};
constexpr const Format& format(Element e) { return formats[static_cast<std::size_t>(e)]; }

// A floating-point number: significand * 2^(exponent - fraction). A normal number's significand has
// its leading bit at `fraction`.
struct Number {
  enum class Kind : std::uint8_t { finite, infinity, nan };
  Kind kind = Kind::finite;
  bool negative = false;
  int exponent = 0, fraction = 0;
  std::uint64_t significand = 0;
};
Number unpack(Element element, std::uint64_t bits);

// Return the `index`th of packed elements, lowest bits first. integer_at() extends the sign.
std::uint64_t element_at(Element element, const void* packed, std::size_t index);
std::int64_t integer_at(Element element, const void* packed, std::size_t index);

constexpr std::size_t packed_bytes(Element e, std::size_t count) {
  return count * format(e).bits / 8;
}

}  // namespace inflight::tensor
