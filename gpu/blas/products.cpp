// The entry points of products of matrices. Compiled twice (abi.hpp).
#include "gpu/blas/letters.hpp"
#include "gpu/blas/product.hpp"

namespace inflight::blas {
namespace {

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, Half>)
    return Type::f16;
  else
    return type_of_sum<T>();
}
template <class T>
constexpr Types types_of() {
  return {type_of<T>(), type_of<T>(), type_of<T>(), type_of<T>()};
}

Status general(const Call& call, Operation ta, Operation tb, Size m, Size n, Size k, Types types,
               const void* alpha, Matrices a, Matrices b, const void* beta, Matrices c,
               Size count) {
  return multiply(call, {{ta, tb, m, n, k}, types, a, b, c, alpha, beta, count});
}

// GemmEx and its batches. The types are checked first.
Status extended(const Call& call, Operation ta, Operation tb, Size m, Size n, Size k, Type at,
                Type bt, Type ct, Compute compute, const void* alpha, Matrices a, Matrices b,
                const void* beta, Matrices c, Size count) {
  const auto types = types_of(at, bt, ct, compute);
  if (!types) return call.refuse("these types of A, B, C and the computation");
  return general(call, ta, tb, m, n, k, *types, alpha, a, b, beta, c, count);
}

// y = alpha op(A) x + beta y is a product of matrices in which x and y have one row. Their
// increments become the leading dimensions.
Status vectors(const Call& call, Operation op, Size m, Size n, Types types, const void* alpha,
               Matrices a, Matrices x, const void* beta, Matrices y, Size count) {
  if (!valid(op) || !sizes(m, n, count) || !leads(a.leading, m) || !x.leading || !y.leading)
    return Status::invalid_value;
  if (x.leading < 0 || y.leading < 0) return call.refuse("negative increments");
  if (op == Operation::adjoint && complex_type(types.a)) return call.refuse("conjugated matrices");
  // y' (1×rows) = x' op(A)'
  const bool plain = op == Operation::none;
  return multiply(call, {{Operation::none, plain ? Operation::transpose : Operation::none, 1,
                          plain ? m : n, plain ? n : m},
                         types,
                         x,
                         a,
                         y,
                         alpha,
                         beta,
                         count});
}

}  // namespace
}  // namespace inflight::blas

using namespace inflight::blas;

#define GEMM(name, T)                                                                          \
  INFLIGHT_ENTRY(name)                                                                         \
  (Handle * h, Operation ta, Operation tb, Int m, Int n, Int k, const T* alpha, const T* a,    \
   Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc) {                               \
    return enter(#name, h, general, ta, tb, m, n, k, types_of<T>(), alpha, one_matrix(a, lda), \
                 one_matrix(b, ldb), beta, one_matrix(c, ldc), 1);                             \
  }
#define GEMM_BATCHES(prefix, T)                                                                    \
  INFLIGHT_ENTRY(prefix##Batched)                                                                  \
  (Handle * h, Operation ta, Operation tb, Int m, Int n, Int k, const T* alpha, const T* const* a, \
   Int lda, const T* const* b, Int ldb, const T* beta, T* const* c, Int ldc, Int count) {          \
    return enter(#prefix "Batched", h, general, ta, tb, m, n, k, types_of<T>(), alpha,             \
                 listed((const void* const*)a, lda), listed((const void* const*)b, ldb), beta,     \
                 listed((const void* const*)c, ldc), count);                                       \
  }                                                                                                \
  GEMM_STRIDES(prefix, T)
#define GEMM_STRIDES(prefix, T)                                                                 \
  INFLIGHT_ENTRY(prefix##StridedBatched)                                                        \
  (Handle * h, Operation ta, Operation tb, Int m, Int n, Int k, const T* alpha, const T* a,     \
   Int lda, Stride sa, const T* b, Int ldb, Stride sb, const T* beta, T* c, Int ldc, Stride sc, \
   Int count) {                                                                                 \
    return enter(#prefix "StridedBatched", h, general, ta, tb, m, n, k, types_of<T>(), alpha,   \
                 strided(a, lda, sa), strided(b, ldb, sb), beta, strided(c, ldc, sc), count);   \
  }

#define GEMMS(Letter, T, R)             \
  GEMM(cublas##Letter##gemm_v2, T)      \
  GEMM_BATCHES(cublas##Letter##gemm, T) \
  GEMV_BATCHES(cublas##Letter##gemv, T, T, (types_of<T>()))
#define GEMV_BATCHES(prefix, T, S, types)                                                     \
  INFLIGHT_ENTRY(prefix##Batched)                                                             \
  (Handle * h, Operation op, Int m, Int n, const S* alpha, const T* const* a, Int lda,        \
   const T* const* x, Int dx, const S* beta, void* const* y, Int dy, Int count) {             \
    return enter(#prefix "Batched", h, vectors, op, m, n, types, alpha,                       \
                 listed((const void* const*)a, lda), listed((const void* const*)x, dx), beta, \
                 listed((const void* const*)y, dy), count);                                   \
  }                                                                                           \
  INFLIGHT_ENTRY(prefix##StridedBatched)                                                      \
  (Handle * h, Operation op, Int m, Int n, const S* alpha, const T* a, Int lda, Stride sa,    \
   const T* x, Int dx, Stride sx, const S* beta, void* y, Int dy, Stride sy, Int count) {     \
    return enter(#prefix "StridedBatched", h, vectors, op, m, n, types, alpha,                \
                 strided(a, lda, sa), strided(x, dx, sx), beta, strided(y, dy, sy), count);   \
  }

INFLIGHT_LETTERS(GEMMS)
GEMM(cublasHgemm, Half)
GEMM_BATCHES(cublasHgemm, Half)
// The 3m forms use Gauss's three products instead of four. Here they use four, which is more exact.
GEMM(cublasCgemm3m, Complex)
GEMM(cublasZgemm3m, DoubleComplex)
GEMM_STRIDES(cublasCgemm3m, Complex)
GEMV_BATCHES(cublasHSHgemv, Half, float, (Types{Type::f16, Type::f16, Type::f16, Type::f32}))
GEMV_BATCHES(cublasHSSgemv, Half, float, (Types{Type::f16, Type::f16, Type::f32, Type::f32}))
GEMV_BATCHES(cublasTSTgemv, Bfloat, float, (Types{Type::bf16, Type::bf16, Type::bf16, Type::f32}))
GEMV_BATCHES(cublasTSSgemv, Bfloat, float, (Types{Type::bf16, Type::bf16, Type::f32, Type::f32}))

INFLIGHT_ENTRY(cublasGemmEx)
(Handle* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha, const void* a,
 Type at, Int lda, const void* b, Type bt, Int ldb, const void* beta, void* c, Type ct, Int ldc,
 Compute compute, int) {
  return enter("cublasGemmEx", h, extended, ta, tb, m, n, k, at, bt, ct, compute, alpha,
               one_matrix(a, lda), one_matrix(b, ldb), beta, one_matrix(c, ldc), 1);
}
INFLIGHT_ENTRY(cublasGemmBatchedEx)
(Handle* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha,
 const void* const* a, Type at, Int lda, const void* const* b, Type bt, Int ldb, const void* beta,
 void* const* c, Type ct, Int ldc, Int count, Compute compute, int) {
  return enter("cublasGemmBatchedEx", h, extended, ta, tb, m, n, k, at, bt, ct, compute, alpha,
               listed(a, lda), listed(b, ldb), beta, listed(c, ldc), count);
}
INFLIGHT_ENTRY(cublasGemmStridedBatchedEx)
(Handle* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha, const void* a,
 Type at, Int lda, Stride sa, const void* b, Type bt, Int ldb, Stride sb, const void* beta, void* c,
 Type ct, Int ldc, Stride sc, Int count, Compute compute, int) {
  return enter("cublasGemmStridedBatchedEx", h, extended, ta, tb, m, n, k, at, bt, ct, compute,
               alpha, strided(a, lda, sa), strided(b, ldb, sb), beta, strided(c, ldc, sc), count);
}

#define TYPED_GEMM(name, S)                                                                       \
  INFLIGHT_ENTRY(name)                                                                            \
  (Handle * h, Operation ta, Operation tb, Int m, Int n, Int k, const S* alpha, const void* a,    \
   Type at, Int lda, const void* b, Type bt, Int ldb, const S* beta, void* c, Type ct, Int ldc) { \
    return enter(#name, h, extended, ta, tb, m, n, k, at, bt, ct, Compute::f32, alpha,            \
                 one_matrix(a, lda), one_matrix(b, ldb), beta, one_matrix(c, ldc), 1);            \
  }
TYPED_GEMM(cublasSgemmEx, float)
TYPED_GEMM(cublasCgemmEx, Complex)
