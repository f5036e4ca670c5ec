// cuBLAS's additions to BLAS: sums of matrices, diagonal products, packed triangles. Entry points
// that have both size forms are compiled twice (abi.hpp).
#include "gpu/blas/call.hpp"
#include "gpu/blas/letters.hpp"

namespace inflight::blas {
namespace {

template <class T>
T element(const T* a, Size lda, Operation op, Size i, Size j) {
  if (op == Operation::none) return a[j * lda + i];
  const T value = a[i * lda + j];
  return op == Operation::adjoint ? conjugate(value) : value;
}

// C = alpha op(A) + beta op(B). C may be A or B if that matrix is not transposed.
template <class T>
Status geam(const Call& call, Operation ta, Operation tb, Size m, Size n, const T* alpha,
            const T* a, Size lda, const T* beta, const T* b, Size ldb, T* c, Size ldc) {
  const auto rows = [&](Operation op) { return op == Operation::none ? m : n; };
  // cuBLAS takes a factor on the host that is missing for zero. cuSOLVER passes no beta.
  const bool factors = call.pointers() == PointerMode::host || (alpha && beta);
  if (!valid(ta) || !valid(tb) || !sizes(m, n) || !factors || !leads(ldc, m) ||
      !leads(lda, rows(ta)) || !leads(ldb, rows(tb)))
    return Status::invalid_value;
  const bool in_place_a = a == c, in_place_b = b == c;
  if ((in_place_a && (ta != Operation::none || lda != ldc)) ||
      (in_place_b && (tb != Operation::none || ldb != ldc)))
    return Status::invalid_value;
  return call.submit(
      [=](const Touch& touch, T al, T be) {
        const auto source = [&](const T* from, Operation op, Size leading) {
          return op == Operation::none ? matrix(from, m, n, leading) : matrix(from, n, m, leading);
        };
        if (al != T(0) && !touch({source(a, ta, lda)})) return;
        if (be != T(0) && !touch({source(b, tb, ldb)})) return;
        if (!touch({matrix(c, m, n, ldc)})) return;
        for (Size j = 0; j < n; ++j)
          for (Size i = 0; i < m; ++i) {
            T sum{};
            if (al != T(0)) sum = al * element(a, lda, ta, i, j);
            if (be != T(0)) sum += be * element(b, ldb, tb, i, j);
            c[j * ldc + i] = sum;
          }
      },
      call.scalar(alpha), call.scalar(beta));
}

// C = diag(x) A, or A diag(x).
template <class T>
Status dgmm(const Call& call, Side side, Size m, Size n, const T* a, Size lda, const T* x, Size dx,
            T* c, Size ldc) {
  if (!valid(side) || !sizes(m, n) || !leads(lda, m) || !leads(ldc, m))
    return Status::invalid_value;
  return call.submit([=](const Touch& touch) {
    const Size count = side == Side::left ? m : n;
    if (!touch({matrix(a, m, n, lda), vector(x, dx ? count : std::min<Size>(count, 1), dx),
                matrix(c, m, n, ldc)}))
      return;
    const T* const first = dx < 0 ? x - (count - 1) * dx : x;
    for (Size j = 0; j < n; ++j)
      for (Size i = 0; i < m; ++i)
        c[j * ldc + i] = a[j * lda + i] * first[(side == Side::left ? i : j) * dx];
  });
}

// Copies a triangle to its packed form, or back.
template <class T, class Move>
Status repack(const Call& call, Fill fill, Size n, Region all, std::vector<Region> part,
              Move move) {
  return call.submit([=](const Touch& touch) {
    if (!touch({all}) || !touch(part)) return;
    Size at = 0;
    for (Size j = 0; j < n; ++j)
      for (Size i = fill == Fill::upper ? 0 : j; i < (fill == Fill::upper ? j + 1 : n); ++i)
        move(at++, i, j);
  });
}
template <class T>
Status tpttr(const Call& call, Fill fill, Size n, const T* from, T* a, Size lda) {
  if (!valid(fill) || !sizes(n) || !leads(lda, n)) return Status::invalid_value;
  return repack<T>(call, fill, n, packed(from, n), triangle(a, n, lda, fill),
                   [=](Size at, Size i, Size j) { a[j * lda + i] = from[at]; });
}
template <class T>
Status trttp(const Call& call, Fill fill, Size n, const T* a, Size lda, T* to) {
  if (!valid(fill) || !sizes(n) || !leads(lda, n)) return Status::invalid_value;
  return repack<T>(call, fill, n, packed(to, n), triangle(a, n, lda, fill),
                   [=](Size at, Size i, Size j) { to[at] = a[j * lda + i]; });
}

}  // namespace
}  // namespace inflight::blas

using namespace inflight::blas;

#define SHAPES(Letter, T, R)                                                                      \
  INFLIGHT_ENTRY(cublas##Letter##geam)                                                            \
  (Handle * h, Operation ta, Operation tb, Int m, Int n, const T* alpha, const T* a, Int lda,     \
   const T* beta, const T* b, Int ldb, T* c, Int ldc) {                                           \
    return enter("cublas" #Letter "geam", h, geam<T>, ta, tb, m, n, alpha, a, lda, beta, b, ldb,  \
                 c, ldc);                                                                         \
  }                                                                                               \
  INFLIGHT_ENTRY(cublas##Letter##dgmm)                                                            \
  (Handle * h, Side side, Int m, Int n, const T* a, Int lda, const T* x, Int dx, T* c, Int ldc) { \
    return enter("cublas" #Letter "dgmm", h, dgmm<T>, side, m, n, a, lda, x, dx, c, ldc);         \
  }
#define PACKING(Letter, T, R)                                                                 \
  INFLIGHT_CUBLAS int cublas##Letter##tpttr(Handle* h, Fill fill, int n, const T* from, T* a, \
                                            int lda) {                                        \
    return enter("cublas" #Letter "tpttr", h, tpttr<T>, fill, n, from, a, lda);               \
  }                                                                                           \
  INFLIGHT_CUBLAS int cublas##Letter##trttp(Handle* h, Fill fill, int n, const T* a, int lda, \
                                            T* to) {                                          \
    return enter("cublas" #Letter "trttp", h, trttp<T>, fill, n, a, lda, to);                 \
  }

INFLIGHT_LETTERS(SHAPES)
#ifndef INFLIGHT_BLAS_64
INFLIGHT_LETTERS(PACKING)
#endif
