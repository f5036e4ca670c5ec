// How the tensor cores of each architecture compute: the constants of the model.
#pragma once
#include <cstdint>

namespace inflight::tensor {

// Who multiplies.
enum class Unit : std::uint8_t {
  quads,      // eight lanes each: m8n8k4 of f16
  warp,       // mma, wmma
  warpgroup,  // wgmma
};

struct Numerics {
  // What becomes of 8-bit floats in a warp's products.
  enum class Fp8 : std::uint8_t {
    absent,
    as_f16,  // the compiler unpacks them and multiplies f16
    native,
  };
  int sm;             // the first architecture that computes so
  int fraction_bits;  // that a term keeps, aligned to the largest exponent
  int group_bytes;    // of A: that many products are summed at once, with the accumulator
  Fp8 warp_fp8;
  int fp8_fraction_bits;  // of native ones
  bool native_quads;      // or a chain of fused multiply-adds
  int least_exponent;     // terms are aligned to no smaller one
};

// Of the newest row that is not newer than sm_`number`.
const Numerics& numerics_of(int number);

}  // namespace inflight::tensor
