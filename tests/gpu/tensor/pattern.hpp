// Memory contents before a case of tensor_truth, and the hash that stands for an image of them.
// Plain C++17, shared by the generator and the unit test that replays its output.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tensor_truth {

constexpr std::size_t global_bytes = 256 << 10, shared_bytes = 64 << 10;
constexpr unsigned char untouched = 0xee;  // shared memory before a load
constexpr int type_count = 13;             // CUtensorMapDataType, without the packed ones

inline const char* type_name(unsigned type) {
  static const char* const names[] = {"u8",  "u16", "u32",  "s32",     "u64",  "s64",     "f16",
                                      "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"};
  return type < type_count ? names[type] : "?";
}
inline std::uint32_t type_bytes(unsigned type) {
  static const unsigned char bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type < type_count ? bytes[type] : 1;
}
inline bool is_real(unsigned type) { return type >= 6 && type < type_count; }

enum Op : unsigned { op_add, op_min, op_max, op_inc, op_dec, op_and, op_or, op_xor, op_count };
inline const char* op_name(unsigned op) {
  static const char* const names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  return op < op_count ? names[op] : "?";
}

// splitmix64: the same numbers everywhere.
inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed + 0x1234567)) {}
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  // In [0, bound), bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

// An element's bits. They are arbitrary, but three in four floating-point values are near 1, so
// that sums round.
inline std::uint64_t element(unsigned type, std::uint64_t r) {
  const bool near = is_real(type) && (r >> 62) != 0;
  const std::uint64_t low = r & 0xffffffffffff;
  switch (near ? type : 0) {
    case 6:  // f16: exponents 12 to 19 of bias 15
      return (low & 0x83ff) | (12 + (r >> 50 & 7)) << 10;
    case 9:  // bf16
      return (low & 0x807f) | (124 + (r >> 50 & 7)) << 7;
    case 8:  // f64
      return (r & 0x800fffffffffffff) | (1018 + (r >> 52 & 7)) << 52;
    case 7:
    case 10:
    case 11:
    case 12:  // f32 and its relatives
      return (low & 0x807fffff) | (120 + (r >> 50 & 7)) << 23;
    default:
      return r;
  }
}

// `salt` distinguishes global memory, shared memory and the patterns of one type.
inline std::vector<unsigned char> pattern(unsigned type, std::uint32_t salt, std::size_t bytes) {
  std::vector<unsigned char> image(bytes);
  const std::uint32_t size = type_bytes(type);
  Random random((std::uint64_t{type} << 32) + salt);
  for (std::size_t at = 0; at < bytes; at += size) {
    const std::uint64_t bits = element(type, random.next());
    std::memcpy(&image[at], &bits, size);  // little-endian on both sides
  }
  return image;
}
inline std::vector<unsigned char> global_pattern(unsigned type, std::uint32_t salt) {
  return pattern(type, 2 * salt, global_bytes);
}
inline std::vector<unsigned char> shared_pattern(unsigned type, std::uint32_t salt) {
  return pattern(type, 2 * salt + 1, shared_bytes);
}
// Every word contains its own address, so that probes show where bytes came from.
inline std::vector<unsigned char> address_pattern() {
  std::vector<unsigned char> image(global_bytes);
  for (std::uint32_t at = 0; at < global_bytes; at += 4) {
    const std::uint32_t word = 0x40000000 + at;
    std::memcpy(&image[at], &word, 4);
  }
  return image;
}

// Hashes whole 8-byte words.
inline std::uint64_t hash(const unsigned char* bytes, std::size_t size) {
  std::uint64_t h = 0x243f6a8885a308d3;
  for (std::size_t at = 0; at + 8 <= size; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
  }
  return h;
}

// Values for which arithmetic differs: zeros, subnormals, ties, infinities, NaNs, integer limits.
inline std::vector<std::uint64_t> specials(unsigned type) {
  switch (type) {
    case 0:
    case 1:
      return {0, 1, 0x7f, 0x80, 0xff, 0x1234};
    case 2:
    case 3:
      return {0, 1, 2, 5, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    case 4:
    case 5:
      return {0, 1, 5, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 6};
    case 6:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3c01,
              0x1000, 0x1001, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0xfe01, 0xffff};
    case 9:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x8080, 0x3f80, 0xbf80, 0x3f81,
              0x3b80, 0x3b81, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffc1, 0xffff};
    case 8:
      return {0,
              0x8000000000000000,
              1,
              0x800fffffffffffff,
              0x0010000000000000,
              0x3ff0000000000000,
              0xbff0000000000000,
              0x3ff0000000000001,
              0x3ca0000000000000,
              0x7fefffffffffffff,
              0x7ff0000000000000,
              0xfff0000000000000,
              0x7ff8000000000000,
              0x7ff0000000000001,
              0xfff8000000000123,
              0xffffffffffffffff};
    default:
      return {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
              0x80800000, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f800fff, 0x3f801000,
              0x3f801001, 0x3f803000, 0x33800000, 0x7f7fffff, 0xff7fffff, 0x7f7ff000,
              0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00001, 0xffffffff};
  }
}

}  // namespace tensor_truth
