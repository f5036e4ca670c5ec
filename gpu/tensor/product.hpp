// D = A * B + C, equal to a tensor core's result in every bit. Independent of PTX, warps and
// fragments: the caller gathers the matrices and distributes the result.
#pragma once
#include "gpu/tensor/element.hpp"
#include "gpu/tensor/numerics.hpp"

namespace inflight::tensor {

enum class Rounding : std::uint8_t { nearest, zero, down, up };
enum class BitOperation : std::uint8_t { xor_popc, and_popc };

struct Product {
  Element a = Element::f16,
          b = Element::f16;  // 8-bit floats can be mixed, and signed with unsigned integers
  Element c = Element::f32, d = Element::f32;  // f16, f32, f64 or s32
  int m = 0, n = 0, k = 0;
  Unit unit = Unit::warp;
  bool negates_a = false, negates_b = false;  // wgmma only
  bool saturates = false;                     // .satfinite: s32 results are clamped to their range
  bool sparse = false;                        // A has k/2 values per row (4-bit values in pairs)
  BitOperation bits = BitOperation::xor_popc;
  Rounding rounding = Rounding::nearest;  // of f64
  int most_at_once = 0;  // products that are summed at once, if fewer than the architecture's
  // The number of values in a row of A.
  int values() const { return sparse ? k / 2 : k; }
};

// The addresses of the matrices. Elements are packed, the lowest bits of a byte first.
struct Matrices {
  const void* a;  // m rows of values() elements: k is contiguous
  const void* b;  // n columns of k elements: k is contiguous
  const void* c;  // n columns of m elements: m is contiguous. Null: no C (wgmma's scale-d is 0)
  void* d;        // same layout as c; may equal c
  // For a sparse A: the column, in 0..k-1, of each of its values. Elements of B without a matching
  // value are not multiplied.
  const std::uint8_t* columns = nullptr;
};

// The largest product is 64 x 256 x 512 bits.
void multiply(const Numerics& numerics, const Product& product, const Matrices& matrices);

}  // namespace inflight::tensor
