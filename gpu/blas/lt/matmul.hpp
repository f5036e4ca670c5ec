// A cublasLtMatmul call: its arguments, and whether they are supported.
#pragma once
#include <optional>
#include <string_view>

#include "gpu/blas/lt/epilogue.hpp"
#include "gpu/blas/lt/objects.hpp"
#include "gpu/blas/product.hpp"

namespace inflight::blas::lt {

// D = epilogue(alpha op(A) op(B) + beta C), with scales for 8-bit floats.
struct Matmul {
  Description how;
  Layout a, b, c, d;
  Shape shape() const;
  Epilogue epilogue() const { return {how.epilogue}; }
  Type bias_type() const;
  Type aux_type() const;
};

// Why a product is refused: invalid_value, or not_supported with the name of the form.
struct Objection {
  Status status = Status::invalid_value;
  std::string_view what;
};
std::optional<Objection> objection(const Matmul& matmul);

}  // namespace inflight::blas::lt
