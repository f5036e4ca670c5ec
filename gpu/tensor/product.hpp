// D = A * B + C as a tensor core computes it, to the bit. Knows no PTX, no warp and no fragment:
// who calls it gathers the matrices and spreads the result.
#pragma once
#include "gpu/tensor/element.hpp"
#include "gpu/tensor/numerics.hpp"

namespace inflight::tensor {

enum class Rounding : std::uint8_t { nearest, zero, down, up };
enum class BitOperation : std::uint8_t { xor_popc, and_popc };

struct Product {
  Element a = Element::f16, b = Element::f16;  // 8-bit floats mix, and so do signs of integers
  Element c = Element::f32, d = Element::f32;  // f16, f32, f64 or s32
  int m = 0, n = 0, k = 0;
  Unit unit = Unit::warp;
  bool negates_a = false, negates_b = false;  // of wgmma
  bool saturates = false;                     // .satfinite: s32 stays in its range
  bool sparse = false;                        // A has k/2 values a row, or, of 4 bits, pairs
  BitOperation bits = BitOperation::xor_popc;
  Rounding rounding = Rounding::nearest;  // of f64
  int most_at_once = 0;  // products that are summed at once, if fewer than the architecture's
  // The values that a row of A has.
  int values() const { return sparse ? k / 2 : k; }
};

// Where the matrices lie. Elements are packed, the lowest bits of a byte first.
struct Matrices {
  const void* a;  // m rows of values(): k lies contiguous
  const void* b;  // n columns of k: k lies contiguous
  const void* c;  // n columns of m: m lies contiguous. Null: there is none (wgmma's scale-d 0)
  void* d;        // likewise; it may be c
  // Of a sparse A: for each of its values its column in 0..k-1. Elements of B that no value meets
  // are not multiplied.
  const std::uint8_t* columns = nullptr;
};

// The most that fit: 64 x 256 x 512 bits.
void multiply(const Numerics& numerics, const Product& product, const Matrices& matrices);

}  // namespace inflight::tensor
