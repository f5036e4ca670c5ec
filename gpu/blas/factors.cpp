// Batches of small systems: factorizations, solutions, inverses, least squares.
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/blas/call.hpp"
#include "gpu/blas/letters.hpp"
#include "gpu/blas/vectors.hpp"

namespace inflight::blas {
namespace {

// A column-major matrix.
template <class T>
struct Grid {
  T* data;
  Size leading;
  T& operator()(Size i, Size j) const { return data[j * leading + i]; }
};

// x - a b, rounded once if real, as an H100 computes it.
template <class T>
T less_product(T x, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(-a, b, x);
  else
    return x - a * b;
}

// P A = L U in place. Pivots count from 1. Null `pivots` means no row exchanges. Returns 0, or the
// index of the first zero on U's diagonal, where an H100 stops.
template <class T>
int factor(Grid<T> a, Size n, int* pivots) {
  for (Size k = 0; pivots && k < n; ++k) pivots[k] = int(k) + 1;
  for (Size k = 0; k < n; ++k) {
    Size best = k;
    for (Size i = k + 1; pivots && i < n; ++i)
      if (magnitude(a(i, k)) > magnitude(a(best, k))) best = i;
    if (pivots) pivots[k] = int(best) + 1;
    if (best != k)
      for (Size j = 0; j < n; ++j) std::swap(a(k, j), a(best, j));
    if (a(k, k) == T(0)) return int(k) + 1;
    for (Size i = k + 1; i < n; ++i) a(i, k) /= a(k, k);
    for (Size j = k + 1; j < n; ++j)
      for (Size i = k + 1; i < n; ++i) a(i, j) = less_product(a(i, j), a(i, k), a(k, j));
  }
  return 0;
}

// Solves op(A) x = b for one right-hand side with the factors of A.
template <class T>
void solve_factored(Grid<const T> a, Size n, Operation op, const int* pivots, T* x) {
  const auto at = [&](Size i, Size j) {
    return op == Operation::none      ? a(i, j)
           : op == Operation::adjoint ? conjugate(a(j, i))
                                      : a(j, i);
  };
  const auto exchange = [&](Size k) { std::swap(x[k], x[pivots[k] - 1]); };
  const bool plain = op == Operation::none;
  if (plain && pivots)
    for (Size k = 0; k < n; ++k) exchange(k);
  for (Size i = 0; i < n; ++i) {
    for (Size j = 0; j < i; ++j) x[i] = less_product(x[i], at(i, j), x[j]);
    if (!plain) x[i] /= at(i, i);
  }
  for (Size i = n - 1; i >= 0; --i) {
    for (Size j = i + 1; j < n; ++j) x[i] = less_product(x[i], at(i, j), x[j]);
    if (plain) x[i] /= at(i, i);
  }
  if (!plain && pivots)
    for (Size k = n - 1; k >= 0; --k) exchange(k);
}

template <class T>
void invert_factored(Grid<const T> a, Size n, const int* pivots, Grid<T> inverse) {
  for (Size j = 0; j < n; ++j) {
    for (Size i = 0; i < n; ++i) inverse(i, j) = T(i == j);
    solve_factored(a, n, Operation::none, pivots, &inverse(0, j));
  }
}

// A = Q R in place, in the form of LAPACK's xGEQRF: R above, Householder vectors below.
template <class T>
void factor_orthogonal(Grid<T> a, Size m, Size n, T* tau) {
  for (Size k = 0; k < std::min(m, n); ++k) {
    const Vector<const T> below{&a(k, k) + 1, m - k - 1, 1};
    const Real<T> rest = euclidean_norm(below);
    const T head = a(k, k);
    tau[k] = T(0);
    if (rest == 0 && std::imag(head) == 0) continue;
    const Real<T> length = std::hypot(std::abs(head), rest);
    const T beta = T(std::real(head) > 0 ? -length : length);
    tau[k] = (beta - head) / beta;
    for (Size i = k + 1; i < m; ++i) a(i, k) /= head - beta;
    a(k, k) = beta;
    for (Size j = k + 1; j < n; ++j) {
      T sum = a(k, j);
      for (Size i = k + 1; i < m; ++i) sum += conjugate(a(i, k)) * a(i, j);
      sum *= conjugate(tau[k]);
      a(k, j) -= sum;
      for (Size i = k + 1; i < m; ++i) a(i, j) -= a(i, k) * sum;
    }
  }
}

// x = Q^H x, then solves R x = x. Returns 0, or the index of the first zero on R's diagonal.
template <class T>
int least_squares(Grid<const T> a, Size m, Size n, const T* tau, T* x) {
  for (Size k = 0; k < n; ++k) {
    T sum = x[k];
    for (Size i = k + 1; i < m; ++i) sum += conjugate(a(i, k)) * x[i];
    sum *= conjugate(tau[k]);
    x[k] -= sum;
    for (Size i = k + 1; i < m; ++i) x[i] -= a(i, k) * sum;
  }
  for (Size i = 0; i < n; ++i)
    if (a(i, i) == T(0)) return int(i) + 1;
  for (Size i = n - 1; i >= 0; --i) {
    for (Size j = i + 1; j < n; ++j) x[i] -= a(i, j) * x[j];
    x[i] /= a(i, i);
  }
  return 0;
}

// Runs body for each matrix of a batch, after checking access to the lists of addresses.
template <class Body>
Status for_each(const Call& call, Size count, std::vector<const void*> lists, Body body) {
  return call.submit([=](const Touch& touch) {
    for (const void* list : lists)
      if (!touch({{list, list ? whole(count) * sizeof(void*) : 0}})) return;
    for (Size i = 0; i < count; ++i)
      if (!body(touch, i)) return;
  });
}
template <class T>
bool touch_square(const Touch& touch, T* a, Size n, Size leading) {
  return touch({read_of(matrix(a, n, n, leading)), matrix(a, n, n, leading)});
}

template <class T>
Status getrf(const Call& call, Size n, T* const* a, Size lda, int* pivots, int* info, Size count) {
  if (!sizes(n, count) || !leads(lda, n)) return Status::invalid_value;
  return for_each(call, count, {a}, [=](const Touch& touch, Size i) {
    int* const own = pivots ? pivots + i * n : nullptr;
    if (!touch_square(touch, a[i], n, lda) || !touch({vector(info + i, 1, 1)})) return false;
    if (own && !touch({vector(own, n, 1)})) return false;
    info[i] = factor(Grid<T>{a[i], lda}, n, own);
    return true;
  });
}

template <class T>
Status getrs(const Call& call, Operation op, Size n, Size columns, const T* const* a, Size lda,
             const int* pivots, T* const* b, Size ldb, int* info, Size count) {
  const int wrong = !valid(op)       ? 1
                    : n < 0          ? 2
                    : columns < 0    ? 3
                    : !leads(lda, n) ? 5
                    : !leads(ldb, n) ? 8
                    : count < 0      ? 10
                                     : 0;
  if (info) *info = -wrong;
  if (wrong) return Status::invalid_value;
  return for_each(call, count, {a, b}, [=](const Touch& touch, Size i) {
    const int* const own = pivots ? pivots + i * n : nullptr;
    const Region to = matrix(b[i], n, columns, ldb);
    if (!touch({matrix(a[i], n, n, lda), read_of(to), to})) return false;
    if (own && !touch({vector(own, n, 1)})) return false;
    for (Size j = 0; j < columns; ++j)
      solve_factored(Grid<const T>{a[i], lda}, n, op, own, b[i] + j * ldb);
    return true;
  });
}

// Writes to each matrix of `c` the inverse of the matrix that `a` describes.
template <class T, class Body>
Status for_each_inverse(const Call& call, Size n, const T* const* a, Size lda, T* const* c,
                        Size ldc, int* info, Size count, Body body) {
  return for_each(call, count, {a, c}, [=](const Touch& touch, Size i) {
    return touch({matrix(a[i], n, n, lda), matrix(c[i], n, n, ldc), vector(info + i, 1, 1)}) &&
           body(touch, i);
  });
}

template <class T>
Status getri(const Call& call, Size n, const T* const* a, Size lda, const int* pivots, T* const* c,
             Size ldc, int* info, Size count) {
  if (!sizes(n, count) || !leads(lda, n) || !leads(ldc, n)) return Status::invalid_value;
  return for_each_inverse(call, n, a, lda, c, ldc, info, count, [=](const Touch& touch, Size i) {
    const int* const own = pivots ? pivots + i * n : nullptr;
    if (own && !touch({vector(own, n, 1)})) return false;
    const Grid<const T> factors{a[i], lda};
    info[i] = 0;
    for (Size k = n - 1; k >= 0; --k)
      if (factors(k, k) == T(0)) info[i] = int(k) + 1;
    // Of a singular matrix the inverse has infinities and NaNs, as on an H100 up to 32 rows.
    invert_factored(factors, n, own, Grid<T>{c[i], ldc});
    return true;
  });
}

template <class T>
Status matinv(const Call& call, Size n, const T* const* a, Size lda, T* const* c, Size ldc,
              int* info, Size count) {
  constexpr Size largest = 32;
  if (!sizes(n, count) || n > largest || !leads(lda, n) || !leads(ldc, n))
    return Status::invalid_value;
  return for_each_inverse(call, n, a, lda, c, ldc, info, count, [=](const Touch&, Size i) {
    std::vector<T> copy(static_cast<std::size_t>(n * n));
    std::vector<int> pivots(static_cast<std::size_t>(n));
    const Grid<T> factors{copy.data(), n};
    for (Size j = 0; j < n; ++j)
      for (Size k = 0; k < n; ++k) factors(k, j) = a[i][j * lda + k];
    info[i] = factor(factors, n, pivots.data());
    if (!info[i])
      invert_factored(Grid<const T>{copy.data(), n}, n, pivots.data(), Grid<T>{c[i], ldc});
    return true;
  });
}

template <class T>
Status geqrf(const Call& call, Size m, Size n, T* const* a, Size lda, T* const* tau, int* info,
             Size count) {
  const int wrong = m < 0 ? 1 : n < 0 ? 2 : !leads(lda, m) ? 4 : count < 0 ? 7 : 0;
  if (info) *info = -wrong;
  if (wrong) return Status::invalid_value;
  return for_each(call, count, {a, tau}, [=](const Touch& touch, Size i) {
    const Region to = matrix(a[i], m, n, lda);
    if (!touch({read_of(to), to, vector(tau[i], std::min(m, n), 1)})) return false;
    factor_orthogonal(Grid<T>{a[i], lda}, m, n, tau[i]);
    return true;
  });
}

template <class T>
Status gels(const Call& call, Operation op, Size m, Size n, Size columns, T* const* a, Size lda,
            T* const* c, Size ldc, int* info, int* infos, Size count) {
  const int wrong = !valid(op)       ? 1
                    : m < 0          ? 2
                    : n < 0          ? 3
                    : columns < 0    ? 4
                    : !leads(lda, m) ? 6
                    : !leads(ldc, m) ? 8
                    : count < 0      ? 11
                                     : 0;
  if (info) *info = -wrong;
  if (wrong) return Status::invalid_value;
  if (op != Operation::none || m < n) return call.refuse("transposed or underdetermined systems");
  return for_each(call, count, {a, c}, [=](const Touch& touch, Size i) {
    const Region system = matrix(a[i], m, n, lda), sides = matrix(c[i], m, columns, ldc);
    if (!touch({read_of(system), system, read_of(sides), sides})) return false;
    if (infos && !touch({vector(infos + i, 1, 1)})) return false;
    std::vector<T> tau(static_cast<std::size_t>(n));
    factor_orthogonal(Grid<T>{a[i], lda}, m, n, tau.data());
    int singular = 0;
    for (Size j = 0; j < columns; ++j)
      singular = least_squares(Grid<const T>{a[i], lda}, m, n, tau.data(), c[i] + j * ldc);
    if (infos) infos[i] = singular;
    return true;
  });
}

}  // namespace
}  // namespace inflight::blas

using namespace inflight::blas;

#define FACTORS(Letter, T, R)                                                                     \
  INFLIGHT_CUBLAS int cublas##Letter##getrfBatched(Handle* h, int n, T* const* a, int lda,        \
                                                   int* pivots, int* info, int count) {           \
    return enter("cublas" #Letter "getrfBatched", h, getrf<T>, n, a, lda, pivots, info, count);   \
  }                                                                                               \
  INFLIGHT_CUBLAS int cublas##Letter##getrsBatched(Handle* h, Operation op, int n, int columns,   \
                                                   const T* const* a, int lda, const int* pivots, \
                                                   T* const* b, int ldb, int* info, int count) {  \
    return enter("cublas" #Letter "getrsBatched", h, getrs<T>, op, n, columns, a, lda, pivots, b, \
                 ldb, info, count);                                                               \
  }                                                                                               \
  INFLIGHT_CUBLAS int cublas##Letter##getriBatched(Handle* h, int n, const T* const* a, int lda,  \
                                                   const int* pivots, T* const* c, int ldc,       \
                                                   int* info, int count) {                        \
    return enter("cublas" #Letter "getriBatched", h, getri<T>, n, a, lda, pivots, c, ldc, info,   \
                 count);                                                                          \
  }                                                                                               \
  INFLIGHT_CUBLAS int cublas##Letter##matinvBatched(Handle* h, int n, const T* const* a, int lda, \
                                                    T* const* c, int ldc, int* info, int count) { \
    return enter("cublas" #Letter "matinvBatched", h, matinv<T>, n, a, lda, c, ldc, info, count); \
  }                                                                                               \
  INFLIGHT_CUBLAS int cublas##Letter##geqrfBatched(Handle* h, int m, int n, T* const* a, int lda, \
                                                   T* const* tau, int* info, int count) {         \
    return enter("cublas" #Letter "geqrfBatched", h, geqrf<T>, m, n, a, lda, tau, info, count);   \
  }                                                                                               \
  INFLIGHT_CUBLAS int cublas##Letter##gelsBatched(Handle* h, Operation op, int m, int n,          \
                                                  int columns, T* const* a, int lda, T* const* c, \
                                                  int ldc, int* info, int* infos, int count) {    \
    return enter("cublas" #Letter "gelsBatched", h, gels<T>, op, m, n, columns, a, lda, c, ldc,   \
                 info, infos, count);                                                             \
  }

INFLIGHT_LETTERS(FACTORS)
