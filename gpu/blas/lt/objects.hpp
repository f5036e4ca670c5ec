// cublasLt's opaque structures, which programs may allocate themselves, and their attributes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/blas/call.hpp"

namespace inflight::blas::lt {

// cublasLtOrder_t, cublasLtBatchMode_t, cublasLtMatmulMatrixScale_t.
enum class Order : std::int32_t { columns = 0, rows = 1 };
enum class BatchMode : std::int32_t { strided = 0, listed = 1 };
enum class ScaleMode : std::int32_t { scalar = 0, outer_vector = 3 };

// cublasLtMatrixLayoutOpaque_t has 64 bytes.
struct Layout {
  Type type = Type::f32;
  Order order = Order::columns;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t batch_count = 1;
  BatchMode batch_mode = BatchMode::strided;
  std::int64_t batch_stride = 0, plane_offset = 0;
};
static_assert(sizeof(Layout) <= 64);

// cublasLtMatmulDescOpaque_t has at least 184 bytes.
struct Description {
  Compute compute = Compute::f32;
  Type scale = Type::f32;
  PointerMode pointers = PointerMode::host;
  Operation a = Operation::none, b = Operation::none, c = Operation::none;
  std::int32_t fill = full;
  std::uint32_t epilogue = 1;
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
  void* aux = nullptr;
  std::int64_t aux_leading = 0, aux_stride = 0, alpha_stride = 0;
  const float *a_scale = nullptr, *b_scale = nullptr, *c_scale = nullptr, *d_scale = nullptr;
  float *d_amax = nullptr, *aux_amax = nullptr;
  const float* aux_scale = nullptr;
  std::int32_t aux_type = unset, bias_type = unset, multiprocessors = 0;
  std::int32_t modes[5] = {};  // of A, B, C, D and the auxiliary output
  std::int8_t fast_sums = 0;

  static constexpr std::int32_t full = 2, unset = -1;
};
static_assert(sizeof(Description) <= 184);

// cublasLtMatmulPreferenceOpaque_t has 64 bytes.
struct Preference {
  std::uint32_t search = 0, reductions = 7;
  std::uint64_t workspace = 0, implementations = ~std::uint64_t{0};
  std::uint32_t alignment[4] = {256, 256, 256, 256};
  float waves = 0;
};
static_assert(sizeof(Preference) <= 64);

// cublasLtMatmulAlgo_t has 64 bytes. There is one algorithm, number 0.
struct Algorithm {
  std::uint32_t configuration[16] = {};
};
static_assert(sizeof(Algorithm) == 64);

struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace = 0;
  Status state = Status::success;
  float waves = 1;
  std::int32_t reserved[4] = {};
};
static_assert(sizeof(HeuristicResult) == 96);

// The position of an attribute in its structure.
struct Attribute {
  int id;
  std::size_t offset, bytes;
};
// Set or get one attribute of any object (invalid_value: unknown attribute or wrong size).
int set_attribute(void* object, std::span<const Attribute> attributes, int id, const void* from,
                  std::size_t bytes);
int get_attribute(const void* object, std::span<const Attribute> attributes, int id, void* to,
                  std::size_t bytes, std::size_t* needed);

}  // namespace inflight::blas::lt
