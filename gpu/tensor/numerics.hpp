// The constants of the model: how the tensor cores of each architecture compute.
#pragma once
#include <cstdint>

namespace inflight::tensor {

// The unit that multiplies.
enum class Unit : std::uint8_t {
  quads,      // eight lanes each: m8n8k4 of f16
  warp,       // mma, wmma
  warpgroup,  // wgmma
};

struct Numerics {
  // How a warp's products treat 8-bit floats.
  enum class Fp8 : std::uint8_t {
    absent,
    as_f16,  // the compiler unpacks them and multiplies f16
    native,
  };
  int sm;             // the first architecture that computes like this
  int fraction_bits;  // of a term, aligned to the largest exponent
  int group_bytes;    // bytes of A whose products are summed at once, with the accumulator
  Fp8 warp_fp8;
  int fp8_fraction_bits;  // fraction_bits for native 8-bit floats
  bool native_quads;      // false: a chain of fused multiply-adds
  int least_exponent;     // terms are aligned at least to this exponent
};

// Returns the newest row that is not newer than sm_`number`.
const Numerics& numerics_of(int number);

}  // namespace inflight::tensor
