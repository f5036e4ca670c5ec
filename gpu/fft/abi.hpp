// cuFFT's types as programs pass them, written from the cuFFT documentation.
#pragma once
#include <cstdint>

namespace inflight::fft {

// cufftResult.
enum class Result : int {
  success = 0,
  invalid_plan = 1,
  alloc_failed = 2,
  invalid_type = 3,
  invalid_value = 4,
  internal_error = 5,
  exec_failed = 6,
  setup_failed = 7,
  invalid_size = 8,
  invalid_device = 11,
  no_workspace = 13,
  not_implemented = 14,
  not_supported = 16,
};

// cufftHandle. -1 (CUFFT_PLAN_NULL) is no plan, which may be destroyed.
using Handle = int;
inline constexpr Handle no_plan = -1;

// CUFFT_FORWARD and CUFFT_INVERSE: the sign of the exponent, which FFTW takes too.
inline constexpr int forward = -1, inverse = 1;

// Sizes in the calls that take 64 bits.
using Wide = long long;

// cufftType by its numbers.
enum class Kind : int {
  c2c = 0x29,
  r2c = 0x2a,
  c2r = 0x2c,
  z2z = 0x69,
  d2z = 0x6a,
  z2d = 0x6c,
};

// cudaDataType by its numbers.
enum class Type : int {
  r32 = 0,
  r64 = 1,
  r16 = 2,
  c32 = 4,
  c64 = 5,
  c16 = 6,
  rb16 = 14,
  cb16 = 15,
};

// cufftProperty by its numbers.
enum class Property : int { patient_jit = 1, most_host_threads = 2 };

}  // namespace inflight::fft
