// cuBLAS's types as programs pass them, written from the cuBLAS documentation.
#pragma once
#include <complex>
#include <cstdint>

namespace inflight::blas {

// cublasStatus_t.
enum class Status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 3,
  invalid_value = 7,
  arch_mismatch = 8,
  mapping_error = 11,
  execution_failed = 13,
  internal_error = 14,
  not_supported = 15,
  license_error = 16,
};

// Sizes of matrices and vectors. Strides between matrices are `long long` in every form.
using Size = std::int64_t;
using Stride = long long;
// Entry points that take sizes are compiled twice, the second time with 64-bit ones and under names
// that end in _64.
#ifdef INFLIGHT_BLAS_64
using Int = std::int64_t;
#  define INFLIGHT_SIZED(name) name##_64
#else
using Int = int;
#  define INFLIGHT_SIZED(name) name
#endif

using Complex = std::complex<float>;
using DoubleComplex = std::complex<double>;

// cublasOperation_t, cublasFillMode_t, cublasDiagType_t and cublasSideMode_t by their numbers.
enum class Operation : int { none = 0, transpose = 1, adjoint = 2 };
enum class Fill : int { lower = 0, upper = 1 };
enum class Diagonal : int { stored = 0, unit = 1 };
enum class Side : int { left = 0, right = 1 };

// cublasPointerMode_t, and the further modes of cublasLt.
enum class PointerMode : int {
  host = 0,
  device = 1,
  device_vector = 2,
  vector_zero = 3,
  vector_host = 4
};

// cudaDataType.
enum class Type : int {
  f32 = 0,
  f64 = 1,
  f16 = 2,
  i8 = 3,
  c32 = 4,
  c64 = 5,
  i32 = 10,
  bf16 = 14,
  e4m3 = 28,
  e5m2 = 29,
};

// cublasComputeType_t.
enum class Compute : int {
  f16 = 64,
  f16_pedantic = 65,
  f32 = 68,
  f32_pedantic = 69,
  f64 = 70,
  f64_pedantic = 71,
  i32 = 72,
  i32_pedantic = 73,
  f32_fast_f16 = 74,
  f32_fast_bf16 = 75,
  f32_fast_tf32 = 77,
  f32_emulated_bf16x9 = 78,
  f64_emulated_fixed = 79,
};

}  // namespace inflight::blas
