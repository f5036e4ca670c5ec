// Level 3 besides products: symmetric and triangular matrices. Compiled twice (abi.hpp).
#include <cstring>

#include "gpu/blas/call.hpp"
#include "gpu/blas/cpu.hpp"
#include "gpu/blas/letters.hpp"

namespace inflight::blas {
namespace {

constexpr const char* no_routine = "the CPU's BLAS lacks a routine";

// Symmetric matrices, and Hermitian ones for complex numbers.
enum class Kind { symmetric, hermitian };
constexpr std::string_view name_of(Kind kind, std::string_view symmetric,
                                   std::string_view hermitian) {
  return kind == Kind::symmetric ? symmetric : hermitian;
}

template <class T, Kind kind>
Status symm(const Call& call, Side side, Fill fill, Size m, Size n, const T* alpha, const T* a,
            Size lda, const T* b, Size ldb, const T* beta, T* c, Size ldc) {
  const Size order = side == Side::left ? m : n;
  if (!valid(side) || !valid(fill) || !sizes(m, n) || !leads(lda, order) || !leads(ldb, m) ||
      !leads(ldc, m) || !alpha || !beta)
    return Status::invalid_value;
  if (!m || !n) return Status::success;
  if (!cpu::found()) return Status::not_supported;
  return call.submit(
      [=](const Touch& touch, T al, T be) {
        const Region to = matrix(c, m, n, ldc);
        if (!touch(triangle(a, order, lda, fill)) || !touch({matrix(b, m, n, ldb), to})) return;
        if (be != T(0) && !touch({read_of(to)})) return;
        if (!cpu::call<T>(name_of(kind, "symm", "hemm"), letter(side), letter(fill), m, n, al, a,
                          lda, b, ldb, be, c, ldc))
          touch.fail(no_routine);
      },
      call.scalar(alpha), call.scalar(beta));
}

// Updates of a triangle of C (n×n) by factors that are n×k, or k×n where they are transposed.
struct Update {
  Fill fill;
  Operation op;
  Size n, k;
  Size rows() const { return op == Operation::none ? n : k; }
  Size columns() const { return op == Operation::none ? k : n; }
  // Hermitian updates use the adjoint where symmetric ones use the transpose.
  char how(Kind kind) const {
    return op == Operation::none ? 'N' : kind == Kind::symmetric ? 'T' : 'C';
  }
};

template <class A, class B, class T, class Run>
Status update(const Call& call, const Update& u, const A* alpha, std::vector<Region> factors,
              const B* beta, T* c, Size ldc, Run run) {
  if (!valid(u.fill) || !valid(u.op) || !sizes(u.n, u.k) || !leads(ldc, u.n) || !alpha || !beta)
    return Status::invalid_value;
  if (!u.n) return Status::success;
  if (!cpu::found()) return Status::not_supported;
  return call.submit(
      [=](const Touch& touch, A al, B be) {
        if (!touch(factors)) return;
        std::vector<Region> to = triangle(c, u.n, ldc, u.fill);
        if (!touch(to)) return;
        for (Region& each : to) each.written = false;
        if (be != B(0) && !touch(to)) return;
        if (!run(al, be)) touch.fail(no_routine);
      },
      call.scalar(alpha), call.scalar(beta));
}

template <class T, class S, class Run>
Status update_by_two(const Call& call, const Update& u, const T* alpha, const T* a, Size lda,
                     const T* b, Size ldb, const S* beta, T* c, Size ldc, Run run) {
  if (!leads(lda, u.rows()) || !leads(ldb, u.rows())) return Status::invalid_value;
  return update(call, u, alpha,
                {matrix(a, u.rows(), u.columns(), lda), matrix(b, u.rows(), u.columns(), ldb)},
                beta, c, ldc, run);
}

// S is the type of alpha and beta.
template <class T, class S, Kind kind>
Status syrk(const Call& call, Fill fill, Operation op, Size n, Size k, const S* alpha, const T* a,
            Size lda, const S* beta, T* c, Size ldc) {
  const Update u{fill, op, n, k};
  if (!leads(lda, u.rows())) return Status::invalid_value;
  return update(call, u, alpha, {matrix(a, u.rows(), u.columns(), lda)}, beta, c, ldc,
                [=](S al, S be) {
                  return cpu::call<T>(name_of(kind, "syrk", "herk"), letter(fill), u.how(kind), n,
                                      k, al, a, lda, be, c, ldc);
                });
}

// The same for matrices whose types are arguments. The 3m forms, which use three products instead
// of four, run this one too, which is more exact.
template <class S, Kind kind>
Status typed_syrk(const Call& call, Fill fill, Operation op, Size n, Size k, const S* alpha,
                  const void* a, Type at, Size lda, const S* beta, void* c, Type ct, Size ldc) {
  if (at != Type::c32 || ct != Type::c32) return call.refuse("types other than complex f32");
  return syrk<Complex, S, kind>(call, fill, op, n, k, alpha, static_cast<const Complex*>(a), lda,
                                beta, static_cast<Complex*>(c), ldc);
}

// S is the type of beta.
template <class T, class S, Kind kind>
Status syr2k(const Call& call, Fill fill, Operation op, Size n, Size k, const T* alpha, const T* a,
             Size lda, const T* b, Size ldb, const S* beta, T* c, Size ldc) {
  const Update u{fill, op, n, k};
  return update_by_two(call, u, alpha, a, lda, b, ldb, beta, c, ldc, [=](T al, S be) {
    return cpu::call<T>(name_of(kind, "syr2k", "her2k"), letter(fill), u.how(kind), n, k, al, a,
                        lda, b, ldb, be, c, ldc);
  });
}

// Like syr2k with half of its sum, for products that the caller knows to be symmetric.
template <class T, class S, Kind kind>
Status syrkx(const Call& call, Fill fill, Operation op, Size n, Size k, const T* alpha, const T* a,
             Size lda, const T* b, Size ldb, const S* beta, T* c, Size ldc) {
  const Update u{fill, op, n, k};
  return update_by_two(call, u, alpha, a, lda, b, ldb, beta, c, ldc, [=](T al, S be) {
    std::vector<T> whole_product(std::size_t(n * n));
    const char turned = kind == Kind::symmetric ? 'T' : 'C';
    const bool plain = op == Operation::none;
    if (!cpu::call<T>("gemm", plain ? 'N' : turned, plain ? turned : 'N', n, n, k, al, a, lda, b,
                      ldb, T(0), whole_product.data(), n))
      return false;
    for (Size j = 0; j < n; ++j)
      for (Size i = fill == Fill::upper ? 0 : j; i < (fill == Fill::upper ? j + 1 : n); ++i) {
        T& to = c[j * ldc + i];
        to = whole_product[std::size_t(j * n + i)] + (be == S(0) ? T(0) : be * to);
      }
    return true;
  });
}

template <class T>
bool touch_triangular(const Touch& touch, Side side, Fill fill, Size m, Size n, const T* a,
                      Size lda) {
  return touch(triangle(a, side == Side::left ? m : n, lda, fill));
}
bool valid(Side side, Fill fill, Operation op, Diagonal diagonal, Size m, Size n, Size lda,
           Size ldb) {
  return blas::valid(side) && blas::valid(fill) && blas::valid(op) && blas::valid(diagonal) &&
         sizes(m, n) && leads(lda, side == Side::left ? m : n) && leads(ldb, m);
}

// C = alpha op(A) B, or alpha B op(A). C may be B.
template <class T>
Status trmm(const Call& call, Side side, Fill fill, Operation op, Diagonal diagonal, Size m, Size n,
            const T* alpha, const T* a, Size lda, const T* b, Size ldb, T* c, Size ldc) {
  if (!valid(side, fill, op, diagonal, m, n, lda, ldb) || !leads(ldc, m) || !alpha)
    return Status::invalid_value;
  if (!m || !n) return Status::success;
  if (!cpu::found()) return Status::not_supported;
  return call.submit(
      [=](const Touch& touch, T al) {
        if (!touch_triangular(touch, side, fill, m, n, a, lda) ||
            !touch({matrix(b, m, n, ldb), matrix(c, m, n, ldc)}))
          return;
        if (b != c)
          for (Size j = 0; j < n; ++j)
            std::memmove(static_cast<void*>(c + j * ldc), b + j * ldb, std::size_t(m) * sizeof(T));
        if (!cpu::call<T>("trmm", letter(side), letter(fill), letter(op), letter(diagonal), m, n,
                          al, a, lda, c, ldc))
          touch.fail(no_routine);
      },
      call.scalar(alpha));
}

// B = alpha op(A)⁻¹ B, or alpha B op(A)⁻¹, for `count` matrices.
template <class T>
Status solve(const Call& call, Side side, Fill fill, Operation op, Diagonal diagonal, Size m,
             Size n, const T* alpha, const T* const* as, const T* only_a, Size lda, T* const* bs,
             T* only_b, Size ldb, Size count) {
  if (!valid(side, fill, op, diagonal, m, n, lda, ldb) || !sizes(count) || !alpha)
    return Status::invalid_value;
  if (!m || !n || !count) return Status::success;
  if (!cpu::found()) return Status::not_supported;
  return call.submit(
      [=](const Touch& touch, T al) {
        const std::uint64_t list = as ? whole(count) * sizeof(void*) : 0;
        if (!touch({{as, list}, {bs, list}})) return;
        for (Size i = 0; i < count; ++i) {
          const T* const a = as ? as[i] : only_a;
          T* const b = bs ? bs[i] : only_b;
          const Region to = matrix(b, m, n, ldb);
          if (!touch_triangular(touch, side, fill, m, n, a, lda) || !touch({read_of(to), to}))
            return;
          if (!cpu::call<T>("trsm", letter(side), letter(fill), letter(op), letter(diagonal), m, n,
                            al, a, lda, b, ldb))
            return touch.fail(no_routine);
        }
      },
      call.scalar(alpha));
}
template <class T>
Status trsm(const Call& call, Side side, Fill fill, Operation op, Diagonal diagonal, Size m, Size n,
            const T* alpha, const T* a, Size lda, T* b, Size ldb) {
  return solve<T>(call, side, fill, op, diagonal, m, n, alpha, nullptr, a, lda, nullptr, b, ldb, 1);
}
template <class T>
Status trsm_batched(const Call& call, Side side, Fill fill, Operation op, Diagonal diagonal, Size m,
                    Size n, const T* alpha, const T* const* a, Size lda, T* const* b, Size ldb,
                    Size count) {
  if (count > 0 && (!a || !b)) return Status::invalid_value;
  return solve<T>(call, side, fill, op, diagonal, m, n, alpha, a, nullptr, lda, b, nullptr, ldb,
                  count);
}

}  // namespace
}  // namespace inflight::blas

using namespace inflight::blas;

#define SYMM(name, T, kind)                                                                       \
  INFLIGHT_ENTRY(name##_v2)                                                                       \
  (Handle * h, Side side, Fill fill, Int m, Int n, const T* alpha, const T* a, Int lda,           \
   const T* b, Int ldb, const T* beta, T* c, Int ldc) {                                           \
    return enter(#name, h, symm<T, Kind::kind>, side, fill, m, n, alpha, a, lda, b, ldb, beta, c, \
                 ldc);                                                                            \
  }
#define SYRK(name, T, S, kind)                                                                   \
  INFLIGHT_ENTRY(name##_v2)                                                                      \
  (Handle * h, Fill fill, Operation op, Int n, Int k, const S* alpha, const T* a, Int lda,       \
   const S* beta, T* c, Int ldc) {                                                               \
    return enter(#name, h, syrk<T, S, Kind::kind>, fill, op, n, k, alpha, a, lda, beta, c, ldc); \
  }
#define TYPED_SYRK(name, S, kind)                                                                 \
  INFLIGHT_ENTRY(name)                                                                            \
  (Handle * h, Fill fill, Operation op, Int n, Int k, const S* alpha, const void* a, Type at,     \
   Int lda, const S* beta, void* c, Type ct, Int ldc) {                                           \
    return enter(#name, h, typed_syrk<S, Kind::kind>, fill, op, n, k, alpha, a, at, lda, beta, c, \
                 ct, ldc);                                                                        \
  }
#define PAIR(symbol, name, function, T, S, kind)                                              \
  INFLIGHT_ENTRY(symbol)                                                                      \
  (Handle * h, Fill fill, Operation op, Int n, Int k, const T* alpha, const T* a, Int lda,    \
   const T* b, Int ldb, const S* beta, T* c, Int ldc) {                                       \
    return enter(#name, h, function<T, S, Kind::kind>, fill, op, n, k, alpha, a, lda, b, ldb, \
                 beta, c, ldc);                                                               \
  }
#define TRIANGULAR(Letter, T, R)                                                                  \
  INFLIGHT_ENTRY(cublas##Letter##trmm_v2)                                                         \
  (Handle * h, Side side, Fill fill, Operation op, Diagonal diagonal, Int m, Int n,               \
   const T* alpha, const T* a, Int lda, const T* b, Int ldb, T* c, Int ldc) {                     \
    return enter("cublas" #Letter "trmm", h, trmm<T>, side, fill, op, diagonal, m, n, alpha, a,   \
                 lda, b, ldb, c, ldc);                                                            \
  }                                                                                               \
  INFLIGHT_ENTRY(cublas##Letter##trsm_v2)                                                         \
  (Handle * h, Side side, Fill fill, Operation op, Diagonal diagonal, Int m, Int n,               \
   const T* alpha, const T* a, Int lda, T* b, Int ldb) {                                          \
    return enter("cublas" #Letter "trsm", h, trsm<T>, side, fill, op, diagonal, m, n, alpha, a,   \
                 lda, b, ldb);                                                                    \
  }                                                                                               \
  INFLIGHT_ENTRY(cublas##Letter##trsmBatched)                                                     \
  (Handle * h, Side side, Fill fill, Operation op, Diagonal diagonal, Int m, Int n,               \
   const T* alpha, const T* const* a, Int lda, T* const* b, Int ldb, Int count) {                 \
    return enter("cublas" #Letter "trsmBatched", h, trsm_batched<T>, side, fill, op, diagonal, m, \
                 n, alpha, a, lda, b, ldb, count);                                                \
  }
#define SYMMETRIC(Letter, T, R)                                                 \
  SYMM(cublas##Letter##symm, T, symmetric)                                      \
  SYRK(cublas##Letter##syrk, T, T, symmetric)                                   \
  PAIR(cublas##Letter##syr2k_v2, cublas##Letter##syr2k, syr2k, T, T, symmetric) \
  PAIR(cublas##Letter##syrkx, cublas##Letter##syrkx, syrkx, T, T, symmetric)
#define HERMITIAN(Letter, T, R)                                                 \
  SYMM(cublas##Letter##hemm, T, hermitian)                                      \
  SYRK(cublas##Letter##herk, T, R, hermitian)                                   \
  PAIR(cublas##Letter##her2k_v2, cublas##Letter##her2k, syr2k, T, R, hermitian) \
  PAIR(cublas##Letter##herkx, cublas##Letter##herkx, syrkx, T, R, hermitian)

INFLIGHT_LETTERS(TRIANGULAR)
INFLIGHT_LETTERS(SYMMETRIC)
INFLIGHT_COMPLEX_LETTERS(HERMITIAN)
TYPED_SYRK(cublasCsyrkEx, Complex, symmetric)
TYPED_SYRK(cublasCsyrk3mEx, Complex, symmetric)
TYPED_SYRK(cublasCherkEx, float, hermitian)
TYPED_SYRK(cublasCherk3mEx, float, hermitian)
