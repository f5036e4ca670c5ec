// A cublasLtMatmul call: what it is given, and whether that is supported.
#pragma once
#include <optional>
#include <string_view>

#include "gpu/blas/lt/epilogue.hpp"
#include "gpu/blas/lt/objects.hpp"
#include "gpu/blas/product.hpp"

namespace inflight::blas::lt {

// D = epilogue(alpha op(A) op(B) + beta C) with the scales of 8-bit floats.
struct Matmul {
  Description how;
  Layout a, b, c, d;
  Shape shape() const;
  Epilogue epilogue() const { return {how.epilogue}; }
  Type bias_type() const;
  Type aux_type() const;
};

// Why it cannot be done: invalid_value, or not_supported with what it is.
struct Objection {
  Status status = Status::invalid_value;
  std::string_view what;
};
std::optional<Objection> objection(const Matmul& matmul);

}  // namespace inflight::blas::lt
