// Level 2: a matrix and vectors. Compiled twice (abi.hpp). Arguments are in BLAS's own order, so
// each form consists of its checks, its regions and the routine's name.
#include "gpu/blas/call.hpp"
#include "gpu/blas/cpu.hpp"
#include "gpu/blas/letters.hpp"

namespace inflight::blas {
namespace {

constexpr const char* no_routine = "the CPU's BLAS lacks a routine";

// y = alpha A x + beta y, computed by run(alpha, beta). `regions` are the memory of A.
template <class T, class Run>
Status multiply(const Call& call, std::vector<Region> regions, Region x, Region y, const T* alpha,
                const T* beta, Run run) {
  if (!alpha || !beta) return Status::invalid_value;
  if (!cpu::found()) return Status::not_supported;
  return call.submit(
      [=](const Touch& touch, T a, T b) {
        if (!touch(regions) || !touch({x, y})) return;
        if (b != T(0) && !touch({read_of(y)})) return;
        if (!run(a, b)) touch.fail(no_routine);
      },
      call.scalar(alpha), call.scalar(beta));
}

// The regions of a band matrix: in each column, the stored rows that lie inside the matrix. The
// columns in the middle store all rows and are one region.
template <class T>
std::vector<Region> band(const T* a, Size m, Size n, Size below, Size above, Size leading) {
  const Size stored = above + below + 1, columns = std::min(n, m + above);
  const Region all = matrix(a, stored, columns, leading);
  if (!all.span().within(cuda::most_region_bytes)) return {all};
  const Size middle = std::min(above, columns), end = std::clamp(m - below, middle, columns);
  std::vector<Region> regions;
  const auto add = [&](Size column) {
    const Size first = std::max<Size>(0, above - column),
               last = std::min(above + below, above + m - 1 - column);
    regions.push_back(vector(a + column * leading + first, last - first + 1, 1));
  };
  for (Size column = 0; column < middle; ++column) add(column);
  if (middle < end) regions.push_back(matrix(a + middle * leading, stored, end - middle, leading));
  for (Size column = end; column < columns; ++column) add(column);
  return regions;
}
template <class T>
std::vector<Region> band(const T* a, Size n, Size k, Size leading, Fill fill) {
  return fill == Fill::upper ? band(a, n, n, 0, k, leading) : band(a, n, n, k, 0, leading);
}

template <class T>
Status gemv(const Call& call, Operation op, Size m, Size n, const T* alpha, const T* a, Size lda,
            const T* x, Size dx, const T* beta, T* y, Size dy) {
  if (!valid(op) || !sizes(m, n) || !leads(lda, m) || !dx || !dy) return Status::invalid_value;
  if (!m || !n) return Status::success;
  const bool plain = op == Operation::none;
  return multiply(call, {matrix(a, m, n, lda)}, vector(x, plain ? n : m, dx),
                  vector(y, plain ? m : n, dy), alpha, beta, [=](T al, T be) {
                    return cpu::call<T>("gemv", letter(op), m, n, al, a, lda, x, dx, be, y, dy);
                  });
}

template <class T>
Status gbmv(const Call& call, Operation op, Size m, Size n, Size below, Size above, const T* alpha,
            const T* a, Size lda, const T* x, Size dx, const T* beta, T* y, Size dy) {
  if (!valid(op) || !sizes(m, n, below, above) || !leads(lda, below + above + 1) || !dx || !dy)
    return Status::invalid_value;
  if (!m || !n) return Status::success;
  const bool plain = op == Operation::none;
  return multiply(call, band(a, m, n, below, above, lda), vector(x, plain ? n : m, dx),
                  vector(y, plain ? m : n, dy), alpha, beta, [=](T al, T be) {
                    return cpu::call<T>("gbmv", letter(op), m, n, below, above, al, a, lda, x, dx,
                                        be, y, dy);
                  });
}

// The routine's name for symmetric (complex: Hermitian) matrices.
template <class T>
constexpr std::string_view name_of(std::string_view real, std::string_view complex) {
  return is_complex<T> ? complex : real;
}

template <class T>
Status symv(const Call& call, Fill fill, Size n, const T* alpha, const T* a, Size lda, const T* x,
            Size dx, const T* beta, T* y, Size dy) {
  if (!valid(fill) || !sizes(n) || !leads(lda, n) || !dx || !dy) return Status::invalid_value;
  if (!n) return Status::success;
  return multiply(call, triangle(a, n, lda, fill), vector(x, n, dx), vector(y, n, dy), alpha, beta,
                  [=](T al, T be) {
                    return cpu::call<T>(name_of<T>("symv", "hemv"), letter(fill), n, al, a, lda, x,
                                        dx, be, y, dy);
                  });
}

template <class T>
Status sbmv(const Call& call, Fill fill, Size n, Size k, const T* alpha, const T* a, Size lda,
            const T* x, Size dx, const T* beta, T* y, Size dy) {
  if (!valid(fill) || !sizes(n, k) || !leads(lda, k + 1) || !dx || !dy)
    return Status::invalid_value;
  if (!n) return Status::success;
  return multiply(call, band(a, n, k, lda, fill), vector(x, n, dx), vector(y, n, dy), alpha, beta,
                  [=](T al, T be) {
                    return cpu::call<T>(name_of<T>("sbmv", "hbmv"), letter(fill), n, k, al, a, lda,
                                        x, dx, be, y, dy);
                  });
}

template <class T>
Status spmv(const Call& call, Fill fill, Size n, const T* alpha, const T* a, const T* x, Size dx,
            const T* beta, T* y, Size dy) {
  if (!valid(fill) || !sizes(n) || !dx || !dy) return Status::invalid_value;
  if (!n) return Status::success;
  return multiply(
      call, {packed(a, n)}, vector(x, n, dx), vector(y, n, dy), alpha, beta, [=](T al, T be) {
        return cpu::call<T>(name_of<T>("spmv", "hpmv"), letter(fill), n, al, a, x, dx, be, y, dy);
      });
}

// The operations of a triangular matrix on one vector in place.
enum class Triangular { product, solution };
template <class Run>
Status in_place(const Call& call, std::vector<Region> regions, Region x, Run run) {
  if (!cpu::found()) return Status::not_supported;
  return call.submit([=](const Touch& touch) {
    if (touch(regions) && touch({read_of(x), x}) && !run()) touch.fail(no_routine);
  });
}

template <class T, Triangular what>
Status tr(const Call& call, Fill fill, Operation op, Diagonal diagonal, Size n, const T* a,
          Size lda, T* x, Size dx) {
  if (!valid(fill) || !valid(op) || !valid(diagonal) || !sizes(n) || !leads(lda, n) || !dx)
    return Status::invalid_value;
  return in_place(call, triangle(a, n, lda, fill), vector(x, n, dx), [=] {
    return cpu::call<T>(what == Triangular::product ? "trmv" : "trsv", letter(fill), letter(op),
                        letter(diagonal), n, a, lda, x, dx);
  });
}

template <class T, Triangular what>
Status tb(const Call& call, Fill fill, Operation op, Diagonal diagonal, Size n, Size k, const T* a,
          Size lda, T* x, Size dx) {
  if (!valid(fill) || !valid(op) || !valid(diagonal) || !sizes(n, k) || !leads(lda, k + 1) || !dx)
    return Status::invalid_value;
  return in_place(call, band(a, n, k, lda, fill), vector(x, n, dx), [=] {
    return cpu::call<T>(what == Triangular::product ? "tbmv" : "tbsv", letter(fill), letter(op),
                        letter(diagonal), n, k, a, lda, x, dx);
  });
}

template <class T, Triangular what>
Status tp(const Call& call, Fill fill, Operation op, Diagonal diagonal, Size n, const T* a, T* x,
          Size dx) {
  if (!valid(fill) || !valid(op) || !valid(diagonal) || !sizes(n) || !dx)
    return Status::invalid_value;
  return in_place(call, {packed(a, n)}, vector(x, n, dx), [=] {
    return cpu::call<T>(what == Triangular::product ? "tpmv" : "tpsv", letter(fill), letter(op),
                        letter(diagonal), n, a, x, dx);
  });
}

// A += alpha x y, computed by run(alpha). `regions` are the memory of A.
template <class S, class Run>
Status update(const Call& call, std::vector<Region> regions, std::vector<Region> vectors,
              const S* alpha, Run run) {
  if (!alpha) return Status::invalid_value;
  if (!cpu::found()) return Status::not_supported;
  return call.submit(
      [=](const Touch& touch, S a) {
        if (!touch(vectors) || !touch(regions)) return;
        for (const Region& each : regions)
          if (!touch({read_of(each)})) return;
        if (!run(a)) touch.fail(no_routine);
      },
      call.scalar(alpha));
}

template <class T, bool conjugated>
Status ger(const Call& call, Size m, Size n, const T* alpha, const T* x, Size dx, const T* y,
           Size dy, T* a, Size lda) {
  if (!sizes(m, n) || !leads(lda, m) || !dx || !dy) return Status::invalid_value;
  constexpr std::string_view routine = !is_complex<T> ? "ger" : conjugated ? "gerc" : "geru";
  return update(call, {matrix(a, m, n, lda)}, {vector(x, m, dx), vector(y, n, dy)}, alpha,
                [=](T al) { return cpu::call<T>(routine, m, n, al, x, dx, y, dy, a, lda); });
}

// Symmetric (complex: Hermitian) updates. S is the type of alpha.
template <class T, class S>
Status syr(const Call& call, Fill fill, Size n, const S* alpha, const T* x, Size dx, T* a,
           Size lda) {
  if (!valid(fill) || !sizes(n) || !leads(lda, n) || !dx) return Status::invalid_value;
  return update(call, triangle(a, n, lda, fill), {vector(x, n, dx)}, alpha, [=](S al) {
    return cpu::call<T>(name_of<T>("syr", "her"), letter(fill), n, al, x, dx, a, lda);
  });
}

template <class T>
Status syr2(const Call& call, Fill fill, Size n, const T* alpha, const T* x, Size dx, const T* y,
            Size dy, T* a, Size lda) {
  if (!valid(fill) || !sizes(n) || !leads(lda, n) || !dx || !dy) return Status::invalid_value;
  return update(
      call, triangle(a, n, lda, fill), {vector(x, n, dx), vector(y, n, dy)}, alpha, [=](T al) {
        return cpu::call<T>(name_of<T>("syr2", "her2"), letter(fill), n, al, x, dx, y, dy, a, lda);
      });
}

template <class T, class S>
Status spr(const Call& call, Fill fill, Size n, const S* alpha, const T* x, Size dx, T* a) {
  if (!valid(fill) || !sizes(n) || !dx) return Status::invalid_value;
  return update(call, {packed(a, n)}, {vector(x, n, dx)}, alpha, [=](S al) {
    return cpu::call<T>(name_of<T>("spr", "hpr"), letter(fill), n, al, x, dx, a);
  });
}

template <class T>
Status spr2(const Call& call, Fill fill, Size n, const T* alpha, const T* x, Size dx, const T* y,
            Size dy, T* a) {
  if (!valid(fill) || !sizes(n) || !dx || !dy) return Status::invalid_value;
  return update(call, {packed(a, n)}, {vector(x, n, dx), vector(y, n, dy)}, alpha, [=](T al) {
    return cpu::call<T>(name_of<T>("spr2", "hpr2"), letter(fill), n, al, x, dx, y, dy, a);
  });
}

// --- complex symmetric matrices: BLAS has only products of matrices for them ------------------

template <class T>
std::vector<T> gathered(const T* x, Size n, Size dx) {
  std::vector<T> result(static_cast<std::size_t>(n));
  for (Size i = 0; i < n; ++i) result[std::size_t(i)] = x[dx < 0 ? (i + 1 - n) * dx : i * dx];
  return result;
}

template <class T>
Status complex_symv(const Call& call, Fill fill, Size n, const T* alpha, const T* a, Size lda,
                    const T* x, Size dx, const T* beta, T* y, Size dy) {
  if (!valid(fill) || !sizes(n) || !leads(lda, n) || !dx || !dy) return Status::invalid_value;
  if (!n) return Status::success;
  return multiply(call, triangle(a, n, lda, fill), vector(x, n, dx), vector(y, n, dy), alpha, beta,
                  [=](T al, T be) {
                    const auto from = gathered(x, n, dx);
                    auto to = gathered<T>(y, n, dy);
                    const bool done = cpu::call<T>("symm", 'L', letter(fill), n, Size{1}, al, a,
                                                   lda, from.data(), n, be, to.data(), n);
                    for (Size i = 0; i < n; ++i)
                      y[dy < 0 ? (i + 1 - n) * dy : i * dy] = to[std::size_t(i)];
                    return done;
                  });
}

template <class T>
Status complex_syr(const Call& call, Fill fill, Size n, const T* alpha, const T* x, Size dx, T* a,
                   Size lda) {
  if (!valid(fill) || !sizes(n) || !leads(lda, n) || !dx) return Status::invalid_value;
  if (!n) return Status::success;
  return update(call, triangle(a, n, lda, fill), {vector(x, n, dx)}, alpha, [=](T al) {
    const auto column = gathered(x, n, dx);
    return cpu::call<T>("syrk", letter(fill), 'N', n, Size{1}, al, column.data(), n, T(1), a, lda);
  });
}

template <class T>
Status complex_syr2(const Call& call, Fill fill, Size n, const T* alpha, const T* x, Size dx,
                    const T* y, Size dy, T* a, Size lda) {
  if (!valid(fill) || !sizes(n) || !leads(lda, n) || !dx || !dy) return Status::invalid_value;
  if (!n) return Status::success;
  return update(call, triangle(a, n, lda, fill), {vector(x, n, dx), vector(y, n, dy)}, alpha,
                [=](T al) {
                  const auto one = gathered(x, n, dx), other = gathered(y, n, dy);
                  return cpu::call<T>("syr2k", letter(fill), 'N', n, Size{1}, al, one.data(), n,
                                      other.data(), n, T(1), a, lda);
                });
}

}  // namespace
}  // namespace inflight::blas

#include "gpu/blas/level2_entries.hpp"
