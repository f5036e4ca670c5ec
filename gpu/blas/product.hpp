// Products of matrices of any supported element types, for cublas...gemm, GemmEx and
// cublasLtMatmul.
#pragma once
#include <optional>
#include <vector>

#include "gpu/blas/call.hpp"
#include "gpu/blas/cpu.hpp"
#include "gpu/blas/numbers.hpp"

namespace inflight::blas {

// The shape of a product: op(A) is m×k, op(B) is k×n.
struct Shape {
  Operation a = Operation::none, b = Operation::none;
  Size m = 0, n = 0, k = 0;
  Size a_rows() const { return a == Operation::none ? m : k; }
  Size a_columns() const { return a == Operation::none ? k : m; }
  Size b_rows() const { return b == Operation::none ? k : n; }
  Size b_columns() const { return b == Operation::none ? n : k; }
};

// The element types of A, B and C, and the type of alpha and beta.
struct Types {
  Type a = Type::f32, b = Type::f32, c = Type::f32, scale = Type::f32;
};
// The types of a cublasGemmEx call, or nothing if the combination is not supported.
std::optional<Types> types_of(Type a, Type b, Type c, Compute compute);

// One matrix, or a batch: at a stride in elements, or by a list of addresses in device memory.
struct Matrices {
  const void* first = nullptr;
  const void* const* each = nullptr;
  Size leading = 0;
  Stride stride = 0;
  const void* at(Size i, Type type) const {
    return each ? each[i] : matrix_at(first, i, stride, bytes_of(type));
  }
};
inline Matrices one_matrix(const void* data, Size leading) { return {data, nullptr, leading, 0}; }
inline Matrices strided(const void* data, Size leading, Stride stride) {
  return {data, nullptr, leading, stride};
}
inline Matrices listed(const void* const* each, Size leading) {
  return {nullptr, each, leading, 0};
}

// C = alpha op(A) op(B) + beta C for `count` matrices. alpha and beta have the type types.scale.
struct Product {
  Shape shape;
  Types types;
  Matrices a, b, c;
  const void *alpha = nullptr, *beta = nullptr;
  Size count = 1;
};
Status multiply(const Call& call, const Product& product);

// alpha or beta, of any scale type.
class AnyScalar {
 public:
  AnyScalar(const void* at, Type type, PointerMode mode);
  Region region() const { return {device_, device_ ? bytes_of(type_) : 0}; }
  template <class S>
  S value() const {
    S result{};
    with_type(type_, [&]<class T>(T) {
      result = number<S>(*reinterpret_cast<const T*>(device_ ? device_ : kept_));
    });
    return result;
  }

 private:
  Type type_;
  const void* device_ = nullptr;
  alignas(16) char kept_[16] = {};
};

// Calls visit(S{}) with the type in which sums of products are kept. Sums of 8-bit integers are
// exact as double.
template <class Visit>
void with_sum(const Types& types, Visit visit) {
  if (types.scale == Type::f64 || types.scale == Type::i32) return visit(double{});
  if (types.scale == Type::c32) return visit(Complex{});
  if (types.scale == Type::c64) return visit(DoubleComplex{});
  visit(float{});
}
template <class S>
constexpr Type type_of_sum() {
  if (std::is_same_v<S, float>) return Type::f32;
  if (std::is_same_v<S, double>) return Type::f64;
  return std::is_same_v<S, Complex> ? Type::c32 : Type::c64;
}

// A matrix's elements as S, column by column. They are copied only if the type or order differs.
template <class S>
class Elements {
 public:
  Elements(const void* data, Type type, Size rows, Size columns, Size leading, bool by_rows = false)
      : data_(static_cast<const S*>(data)), leading_(leading) {
    if (type == type_of_sum<S>() && !by_rows) return;
    copy_.resize(std::size_t(rows * columns));
    leading_ = std::max<Size>(rows, 1);
    const Size row_step = by_rows ? leading : 1, column_step = by_rows ? 1 : leading;
    with_type(type, [&]<class T>(T) {
      const T* from = static_cast<const T*>(data);
      for (Size j = 0; j < columns; ++j)
        for (Size i = 0; i < rows; ++i)
          copy_[std::size_t(j * rows + i)] = number<S>(from[i * row_step + j * column_step]);
    });
    data_ = copy_.data();
  }
  const S* data() const { return data_; }
  Size leading() const { return leading_; }

 private:
  std::vector<S> copy_;
  const S* data_;
  Size leading_;
};

// The reverse of Elements: stores numbers, rounded to the element type.
template <class S>
void store(const S* from, void* to, Type type, Size rows, Size columns, Size leading,
           bool by_rows = false) {
  const Size row_step = by_rows ? leading : 1, column_step = by_rows ? 1 : leading;
  with_type(type, [&]<class T>(T) {
    T* place = static_cast<T*>(to);
    for (Size j = 0; j < columns; ++j)
      for (Size i = 0; i < rows; ++i)
        place[i * row_step + j * column_step] = number<T>(from[j * rows + i]);
  });
}

// A matrix's first element, and the distances from row to row and from column to column.
struct Place {
  const void* data;
  Size row_step, column_step;
};
inline Place by_columns(const void* data, Size leading) { return {data, 1, leading}; }
inline Place by_rows(const void* data, Size leading) { return {data, leading, 1}; }

// True for products that tensor cores compute here too: f16 or bf16 with f32 sums.
inline bool by_tensor_cores(const Types& types) {
  return types.a == types.b && (types.a == Type::f16 || types.a == Type::bf16) &&
         types.scale == Type::f32;
}
// Computes op(A) op(B) with tensor cores: m×n, column by column. The result is bit-identical to
// cuBLAS's where cuBLAS does not split k.
std::vector<float> tensor_core_sums(const Shape& shape, Type type, const Place& a, const Place& b);

// result (m×n, at `leading`) = alpha op(A) op(B) + beta result. False: the CPU's BLAS lacks gemm.
template <class S>
bool multiply_elements(const Shape& shape, S alpha, const Elements<S>& a, const Elements<S>& b,
                       S beta, S* result, Size leading) {
  return cpu::call<S>("gemm", letter(shape.a), letter(shape.b), shape.m, shape.n, shape.k, alpha,
                      a.data(), a.leading(), b.data(), b.leading(), beta, result, leading);
}

}  // namespace inflight::blas
