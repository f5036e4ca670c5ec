// Level 1: vectors. Compiled twice (abi.hpp).
#include "gpu/blas/call.hpp"
#include "gpu/blas/letters.hpp"
#include "gpu/blas/vectors.hpp"

namespace inflight::blas {
namespace {

template <class A, class T>
Status axpy(const Call& call, Size n, const A* alpha, const T* x, Size dx, T* y, Size dy) {
  if (!alpha) return Status::invalid_value;
  return call.submit(
      [=](const Touch& touch, A a) {
        if (a == A(0) || !touch({vector(x, n, dx), read_of(vector(y, n, dy)), vector(y, n, dy)}))
          return;
        const Vector<const T> from{x, n, dx};
        const Vector<T> to{y, n, dy};
        for (Size i = 0; i < n; ++i) to[i] += a * from[i];
      },
      call.scalar(alpha));
}

template <class T>
Status copy(const Call& call, Size n, const T* x, Size dx, T* y, Size dy) {
  return call.submit([=](const Touch& touch) {
    if (!touch({vector(x, n, dx), vector(y, n, dy)})) return;
    const Vector<const T> from{x, n, dx};
    const Vector<T> to{y, n, dy};
    for (Size i = 0; i < n; ++i) to[i] = from[i];
  });
}

template <class T>
bool touch_both(const Touch& touch, T* x, T* y, Size n, Size dx, Size dy) {
  return touch(
      {read_of(vector(x, n, dx)), read_of(vector(y, n, dy)), vector(x, n, dx), vector(y, n, dy)});
}

template <class T>
Status swap(const Call& call, Size n, T* x, Size dx, T* y, Size dy) {
  return call.submit([=](const Touch& touch) {
    if (!touch_both(touch, x, y, n, dx, dy)) return;
    const Vector<T> one{x, n, dx}, other{y, n, dy};
    for (Size i = 0; i < n; ++i) std::swap(one[i], other[i]);
  });
}

template <class A, class T>
Status scal(const Call& call, Size n, const A* alpha, T* x, Size dx) {
  if (!alpha) return Status::invalid_value;
  return call.submit(
      [=](const Touch& touch, A a) {
        if (dx <= 0 || !touch({read_of(vector(x, n, dx)), vector(x, n, dx)})) return;
        for (Size i = 0; i < n; ++i) x[i * dx] *= a;
      },
      call.scalar(alpha));
}

template <class T>
Status inner(const Call& call, Size n, const T* x, Size dx, const T* y, Size dy, T* result,
             bool conjugated) {
  return call.write_result(result, [=](const Touch& touch, T& to) {
    if (touch({vector(x, n, dx), vector(y, n, dy)}))
      to = dot(Vector<const T>{x, n, dx}, Vector<const T>{y, n, dy}, conjugated);
  });
}
template <class T>
Status dotu(const Call& call, Size n, const T* x, Size dx, const T* y, Size dy, T* result) {
  return inner(call, n, x, dx, y, dy, result, false);
}
template <class T>
Status dotc(const Call& call, Size n, const T* x, Size dx, const T* y, Size dy, T* result) {
  return inner(call, n, x, dx, y, dy, result, true);
}

// Computes one number from a vector, which counts as empty if its increment is not positive.
template <class T, class R, class Compute>
Status reduce(const Call& call, Size n, const T* x, Size dx, R* result, Compute compute) {
  const Size count = dx > 0 ? n : 0;
  return call.write_result(result, [=](const Touch& touch, R& to) {
    if (touch({vector(x, count, dx)})) to = R(compute(Vector<const T>{x, count, dx}));
  });
}
template <class T>
Status nrm2(const Call& call, Size n, const T* x, Size dx, Real<T>* result) {
  return reduce(call, n, x, dx, result, euclidean_norm<T>);
}
template <class T>
Status asum(const Call& call, Size n, const T* x, Size dx, Real<T>* result) {
  return reduce(call, n, x, dx, result, absolute_sum<T>);
}
template <class T>
Status amax(const Call& call, Size n, const T* x, Size dx, Int* result) {
  return reduce(call, n, x, dx, result,
                [](Vector<const T> v) { return extreme(v, std::greater<>{}); });
}
template <class T>
Status amin(const Call& call, Size n, const T* x, Size dx, Int* result) {
  return reduce(call, n, x, dx, result,
                [](Vector<const T> v) { return extreme(v, std::less<>{}); });
}

template <class T, class S>
Status rot(const Call& call, Size n, T* x, Size dx, T* y, Size dy, const Real<T>* c, const S* s) {
  if (!c || !s) return Status::invalid_value;
  return call.submit(
      [=](const Touch& touch, Real<T> cosine, S sine) {
        if (touch_both(touch, x, y, n, dx, dy))
          rotate(Vector<T>{x, n, dx}, Vector<T>{y, n, dy}, cosine, sine);
      },
      call.scalar(c), call.scalar(s));
}

template <class T>
struct Modified {
  T parameters[5];
};
template <class T>
Status rotm(const Call& call, Size n, T* x, Size dx, T* y, Size dy, const T* parameters) {
  if (!parameters) return Status::invalid_value;
  return call.submit(
      [=](const Touch& touch, Modified<T> how) {
        if (touch_both(touch, x, y, n, dx, dy))
          rotate_modified(Vector<T>{x, n, dx}, Vector<T>{y, n, dy}, how.parameters);
      },
      call.scalar(reinterpret_cast<const Modified<T>*>(parameters)));
}

}  // namespace
}  // namespace inflight::blas

using namespace inflight::blas;

#define VECTORS(Letter, T, R)                                                                    \
  INFLIGHT_ENTRY(cublas##Letter##axpy_v2)                                                        \
  (Handle * h, Int n, const T* alpha, const T* x, Int dx, T* y, Int dy) {                        \
    return enter("cublas" #Letter "axpy", h, axpy<T, T>, n, alpha, x, dx, y, dy);                \
  }                                                                                              \
  INFLIGHT_ENTRY(cublas##Letter##copy_v2)(Handle * h, Int n, const T* x, Int dx, T* y, Int dy) { \
    return enter("cublas" #Letter "copy", h, copy<T>, n, x, dx, y, dy);                          \
  }                                                                                              \
  INFLIGHT_ENTRY(cublas##Letter##swap_v2)(Handle * h, Int n, T * x, Int dx, T * y, Int dy) {     \
    return enter("cublas" #Letter "swap", h, swap<T>, n, x, dx, y, dy);                          \
  }                                                                                              \
  INFLIGHT_ENTRY(cublas##Letter##scal_v2)(Handle * h, Int n, const T* alpha, T* x, Int dx) {     \
    return enter("cublas" #Letter "scal", h, scal<T, T>, n, alpha, x, dx);                       \
  }

#define REDUCTIONS(letters, index, T, R)                                                        \
  INFLIGHT_ENTRY(cublas##letters##nrm2_v2)(Handle * h, Int n, const T* x, Int dx, R* result) {  \
    return enter("cublas" #letters "nrm2", h, nrm2<T>, n, x, dx, result);                       \
  }                                                                                             \
  INFLIGHT_ENTRY(cublas##letters##asum_v2)(Handle * h, Int n, const T* x, Int dx, R* result) {  \
    return enter("cublas" #letters "asum", h, asum<T>, n, x, dx, result);                       \
  }                                                                                             \
  INFLIGHT_ENTRY(cublasI##index##amax_v2)(Handle * h, Int n, const T* x, Int dx, Int* result) { \
    return enter("cublasI" #index "amax", h, amax<T>, n, x, dx, result);                        \
  }                                                                                             \
  INFLIGHT_ENTRY(cublasI##index##amin_v2)(Handle * h, Int n, const T* x, Int dx, Int* result) { \
    return enter("cublasI" #index "amin", h, amin<T>, n, x, dx, result);                        \
  }

#define DOT(name, function, T)                                             \
  INFLIGHT_ENTRY(name##_v2)                                                \
  (Handle * h, Int n, const T* x, Int dx, const T* y, Int dy, T* result) { \
    return enter(#name, h, function<T>, n, x, dx, y, dy, result);          \
  }
#define ROTATION(name, T, R, Sine)                                               \
  INFLIGHT_ENTRY(name##_v2)                                                      \
  (Handle * h, Int n, T * x, Int dx, T * y, Int dy, const R* c, const Sine* s) { \
    return enter(#name, h, rot<T, Sine>, n, x, dx, y, dy, c, s);                 \
  }
#define MODIFIED_ROTATION(Letter, T, R)                                             \
  INFLIGHT_ENTRY(cublas##Letter##rotm_v2)                                           \
  (Handle * h, Int n, T * x, Int dx, T * y, Int dy, const T* parameters) {          \
    return enter("cublas" #Letter "rotm", h, rotm<T>, n, x, dx, y, dy, parameters); \
  }
#define REAL_SCALE(name, T, R)                                                 \
  INFLIGHT_ENTRY(name##_v2)(Handle * h, Int n, const R* alpha, T* x, Int dx) { \
    return enter(#name, h, scal<R, T>, n, alpha, x, dx);                       \
  }

INFLIGHT_LETTERS(VECTORS)
REDUCTIONS(S, s, float, float)
REDUCTIONS(D, d, double, double)
REDUCTIONS(Sc, c, Complex, float)
REDUCTIONS(Dz, z, DoubleComplex, double)
DOT(cublasSdot, dotu, float)
DOT(cublasDdot, dotu, double)
DOT(cublasCdotu, dotu, Complex)
DOT(cublasCdotc, dotc, Complex)
DOT(cublasZdotu, dotu, DoubleComplex)
DOT(cublasZdotc, dotc, DoubleComplex)
ROTATION(cublasSrot, float, float, float)
ROTATION(cublasDrot, double, double, double)
ROTATION(cublasCrot, Complex, float, Complex)
ROTATION(cublasCsrot, Complex, float, float)
ROTATION(cublasZrot, DoubleComplex, double, DoubleComplex)
ROTATION(cublasZdrot, DoubleComplex, double, double)
INFLIGHT_REAL_LETTERS(MODIFIED_ROTATION)
REAL_SCALE(cublasCsscal, Complex, float)
REAL_SCALE(cublasZdscal, DoubleComplex, double)
