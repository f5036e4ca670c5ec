// A fuzzer's input as a stream of decisions. Its bytes make the first decisions. A generator that
// they seed makes the rest. So a few bytes give a whole program, and each byte of a longer input
// changes one decision.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

namespace inflight::fuzz {

class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {
    std::uint64_t seed = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < size; ++i) seed = (seed ^ data[i]) * 0x100000001b3;
    random_.seed(seed);
  }

  // The bytes only seed the generator and make no decision, because they have another meaning.
  static Choices seeded_by(const std::uint8_t* data, std::size_t size) {
    Choices choices(data, size);
    choices.left_ = 0;
    return choices;
  }

  std::uint64_t bits() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= std::uint64_t{byte()} << 8 * i;
    return value;
  }
  // A number below `n`, which is at most 2^32. Returns 0 if `n` is 0.
  std::uint32_t below(std::uint64_t n) {
    if (n < 2) return 0;
    if (n <= 256) return byte() % static_cast<std::uint32_t>(n);
    std::uint64_t value = 0;
    for (int i = 0; i < 4; ++i) value |= std::uint64_t{byte()} << 8 * i;
    return static_cast<std::uint32_t>(value % n);
  }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  template <class T>
  const auto& pick(const T& values) {
    return values[below(std::size(values))];
  }

 private:
  std::uint8_t byte() {
    if (left_ == 0) return static_cast<std::uint8_t>(random_());
    --left_;
    return *data_++;
  }
  const std::uint8_t* data_;
  std::size_t left_;
  std::mt19937_64 random_;
};

// Numbers that often break sizes, offsets, counts and indices.
inline constexpr std::uint64_t extremes[] = {
    0,          1,           2,          3,          7,          15,         16,         17,
    31,         32,          127,        128,        255,        256,        0x7fff,     0x8000,
    0xffff,     0x10000,     0xfffff,    0x100000,   0xffffff,   0x1000000,  0x7ffffff0, 0x7fffffff,
    0x80000000, 0xfffffff0,  0xffffffff, 1ull << 32, 1ull << 40, 1ull << 47, 1ull << 62, ~0ull >> 1,
    1ull << 63, ~0ull - 255, ~0ull - 15, ~0ull - 7,  ~0ull - 1,  ~0ull};

}  // namespace inflight::fuzz
