// Level 1 with element types as arguments (cublasDotEx and similar calls). Compiled twice
// (abi.hpp).
#include <optional>
#include <vector>

#include "gpu/blas/call.hpp"
#include "gpu/blas/letters.hpp"
#include "gpu/blas/product.hpp"
#include "gpu/blas/vectors.hpp"

namespace inflight::blas {
namespace {

// A vector as the program describes it.
struct Operand {
  const void* data = nullptr;
  Type type = Type::f32;
  Size n = 0, increment = 1;

  Region region(bool written) const {
    const std::uint64_t bytes = bytes_of(type);
    const auto step = std::uint64_t(increment < 0 ? -increment : increment) * bytes;
    return {data, bytes, whole(n), step, written};
  }
  template <class S>
  std::vector<S> gather() const {
    std::vector<S> result(static_cast<std::size_t>(n));
    with_type(type, [&]<class T>(T) {
      const Vector<const T> from{static_cast<const T*>(data), n, increment};
      for (Size i = 0; i < n; ++i) result[std::size_t(i)] = number<S>(from[i]);
    });
    return result;
  }
  template <class S>
  void scatter(const std::vector<S>& values) const {
    with_type(type, [&]<class T>(T) {
      const Vector<T> to{static_cast<T*>(const_cast<void*>(data)), n, increment};
      for (Size i = 0; i < n; ++i) to[i] = number<T>(values[std::size_t(i)]);
    });
  }
};

// Calls visit(S{}) with the type of a computation. Returns false if the type is none.
template <class Visit>
bool with_execution(Type type, Visit visit) {
  switch (type) {
    case Type::f32:
      return visit(float{}), true;
    case Type::f64:
      return visit(double{}), true;
    case Type::c32:
      return visit(Complex{}), true;
    case Type::c64:
      return visit(DoubleComplex{}), true;
    default:
      return false;
  }
}

constexpr const char* types_here = "these types of its operands and its computation";

bool known(const Operand& x, Type execution) {
  return bytes_of(x.type) && complex_type(x.type) == complex_type(execution) &&
         with_execution(execution, [](auto) {});
}

// Computes one number with compute(S{}) in the execution type.
template <class Compute>
Status give_number(const Call& call, std::vector<Operand> operands, void* result, Type type,
                   Type execution, Compute compute) {
  for (const Operand& each : operands)
    if (!known(each, execution)) return call.refuse(types_here);
  if (!bytes_of(type)) return call.refuse(types_here);
  if (!result) return Status::invalid_value;
  const auto body = [=](const Touch& touch) {
    for (const Operand& each : operands)
      if (!touch({each.region(false)})) return;
    with_execution(execution, [&]<class S>(S) {
      const auto value = compute(S{});
      with_type(type, [&]<class T>(T) { *static_cast<T*>(result) = number<T>(value); });
    });
  };
  if (call.pointers() == PointerMode::host) return call.await(body);
  return call.submit([=](const Touch& touch) {
    if (touch({{result, bytes_of(type), 1, 0, true}})) body(touch);
  });
}

template <class S>
Vector<const S> view(const std::vector<S>& values) {
  return {values.data(), Size(values.size()), 1};
}

template <bool conjugated>
Status dot_of(const Call& call, Size n, const void* x, Type xt, Size dx, const void* y, Type yt,
              Size dy, void* result, Type type, Type execution) {
  const Operand one{x, xt, std::max<Size>(n, 0), dx}, other{y, yt, std::max<Size>(n, 0), dy};
  return give_number(call, {one, other}, result, type, execution, [=]<class S>(S) {
    return dot(view(one.gather<S>()), view(other.gather<S>()), conjugated);
  });
}

Operand forward(const void* x, Type type, Size n, Size dx) {
  return {x, type, dx > 0 ? std::max<Size>(n, 0) : 0, dx};
}

Status norm_of(const Call& call, Size n, const void* x, Type xt, Size dx, void* result, Type type,
               Type execution) {
  const Operand one = forward(x, xt, n, dx);
  // The result is real: nrm2 of complex numbers computes in their real type.
  const Type in = complex_type(xt) ? xt : execution;
  return give_number(call, {one}, result, type, in,
                     [=]<class S>(S) { return euclidean_norm(view(one.gather<S>())); });
}
Status sum_of(const Call& call, Size n, const void* x, Type xt, Size dx, void* result, Type type,
              Type execution) {
  const Operand one = forward(x, xt, n, dx);
  const Type in = complex_type(xt) ? xt : execution;
  return give_number(call, {one}, result, type, in,
                     [=]<class S>(S) { return absolute_sum(view(one.gather<S>())); });
}

template <class Better>
Status extreme_of(const Call& call, Size n, const void* x, Type xt, Size dx, Int* result) {
  const Operand one = forward(x, xt, n, dx);
  const Type in = complex_type(xt) ? xt : Type::f64;
  if (!known(one, in)) return call.refuse(types_here);
  return call.write_result(result, [=](const Touch& touch, Int& to) {
    if (!touch({one.region(false)})) return;
    with_execution(in, [&]<class S>(S) { to = Int(extreme(view(one.gather<S>()), Better{})); });
  });
}

// Updates vectors by a number: change(S alpha, x, y) in the execution type.
Status axpy_of(const Call& call, Size n, const void* alpha, Type at, const void* x, Type xt,
               Size dx, void* y, Type yt, Size dy, Type execution) {
  const Operand from{x, xt, std::max<Size>(n, 0), dx}, to{y, yt, std::max<Size>(n, 0), dy};
  if (!known(from, execution) || !known(to, execution) || !bytes_of(at))
    return call.refuse(types_here);
  if (!alpha) return Status::invalid_value;
  return call.submit([=, a = AnyScalar(alpha, at, call.pointers())](const Touch& touch) {
    if (!touch({a.region(), from.region(false), to.region(false), to.region(true)})) return;
    with_execution(execution, [&]<class S>(S) {
      const auto values = from.gather<S>();
      auto sums = to.gather<S>();
      const S factor = a.value<S>();
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += factor * values[i];
      to.scatter(sums);
    });
  });
}

Status scale_of(const Call& call, Size n, const void* alpha, Type at, void* x, Type xt, Size dx,
                Type execution) {
  const Operand one = forward(x, xt, n, dx);
  if (!known(one, execution) || !bytes_of(at)) return call.refuse(types_here);
  if (!alpha) return Status::invalid_value;
  return call.submit([=, a = AnyScalar(alpha, at, call.pointers())](const Touch& touch) {
    if (!touch({a.region(), one.region(false), one.region(true)})) return;
    with_execution(execution, [&]<class S>(S) {
      auto values = one.gather<S>();
      const S factor = a.value<S>();
      for (S& each : values) each *= factor;
      one.scatter(values);
    });
  });
}

// The type in which two vectors of one type are copied. It holds every value of that type.
Type mover_of(Type type) { return complex_type(type) ? Type::c64 : Type::f64; }

Status copy_of(const Call& call, Size n, const void* x, Type xt, Size dx, void* y, Type yt,
               Size dy) {
  const Operand from{x, xt, std::max<Size>(n, 0), dx}, to{y, yt, std::max<Size>(n, 0), dy};
  if (xt != yt || !known(from, mover_of(xt))) return call.refuse(types_here);
  return call.submit([=](const Touch& touch) {
    if (!touch({from.region(false), to.region(true)})) return;
    with_execution(mover_of(xt), [&]<class S>(S) { to.scatter(from.gather<S>()); });
  });
}

Status swap_of(const Call& call, Size n, void* x, Type xt, Size dx, void* y, Type yt, Size dy) {
  const Operand one{x, xt, std::max<Size>(n, 0), dx}, other{y, yt, std::max<Size>(n, 0), dy};
  if (xt != yt || !known(one, mover_of(xt))) return call.refuse(types_here);
  return call.submit([=](const Touch& touch) {
    if (!touch({one.region(false), other.region(false), one.region(true), other.region(true)}))
      return;
    with_execution(mover_of(xt), [&]<class S>(S) {
      const auto kept = one.gather<S>();
      one.scatter(other.gather<S>());
      other.scatter(kept);
    });
  });
}

Status rotate_of(const Call& call, Size n, void* x, Type xt, Size dx, void* y, Type yt, Size dy,
                 const void* c, const void* s, Type number_type, Type execution) {
  const Operand one{x, xt, std::max<Size>(n, 0), dx}, other{y, yt, std::max<Size>(n, 0), dy};
  if (!known(one, execution) || !known(other, execution) || !bytes_of(number_type))
    return call.refuse(types_here);
  if (!c || !s) return Status::invalid_value;
  return call.submit([=, cosine = AnyScalar(c, number_type, call.pointers()),
                      sine = AnyScalar(s, number_type, call.pointers())](const Touch& touch) {
    if (!touch({cosine.region(), sine.region(), one.region(false), other.region(false),
                one.region(true), other.region(true)}))
      return;
    with_execution(execution, [&]<class S>(S) {
      auto left = one.gather<S>(), right = other.gather<S>();
      const auto whole_of = [](std::vector<S>& v) {
        return Vector<S>{v.data(), Size(v.size()), 1};
      };
      rotate(whole_of(left), whole_of(right), cosine.value<S>(), sine.value<S>());
      one.scatter(left);
      other.scatter(right);
    });
  });
}

}  // namespace
}  // namespace inflight::blas

using namespace inflight::blas;

INFLIGHT_ENTRY(cublasDotEx)
(Handle* h, Int n, const void* x, Type xt, Int dx, const void* y, Type yt, Int dy, void* result,
 Type type, Type execution) {
  return enter("cublasDotEx", h, dot_of<false>, n, x, xt, dx, y, yt, dy, result, type, execution);
}
INFLIGHT_ENTRY(cublasDotcEx)
(Handle* h, Int n, const void* x, Type xt, Int dx, const void* y, Type yt, Int dy, void* result,
 Type type, Type execution) {
  return enter("cublasDotcEx", h, dot_of<true>, n, x, xt, dx, y, yt, dy, result, type, execution);
}
INFLIGHT_ENTRY(cublasNrm2Ex)
(Handle* h, Int n, const void* x, Type xt, Int dx, void* result, Type type, Type execution) {
  return enter("cublasNrm2Ex", h, norm_of, n, x, xt, dx, result, type, execution);
}
INFLIGHT_ENTRY(cublasAsumEx)
(Handle* h, Int n, const void* x, Type xt, Int dx, void* result, Type type, Type execution) {
  return enter("cublasAsumEx", h, sum_of, n, x, xt, dx, result, type, execution);
}
INFLIGHT_ENTRY(cublasIamaxEx)(Handle* h, Int n, const void* x, Type xt, Int dx, Int* result) {
  return enter("cublasIamaxEx", h, extreme_of<std::greater<>>, n, x, xt, dx, result);
}
INFLIGHT_ENTRY(cublasIaminEx)(Handle* h, Int n, const void* x, Type xt, Int dx, Int* result) {
  return enter("cublasIaminEx", h, extreme_of<std::less<>>, n, x, xt, dx, result);
}
INFLIGHT_ENTRY(cublasAxpyEx)
(Handle* h, Int n, const void* alpha, Type at, const void* x, Type xt, Int dx, void* y, Type yt,
 Int dy, Type execution) {
  return enter("cublasAxpyEx", h, axpy_of, n, alpha, at, x, xt, dx, y, yt, dy, execution);
}
INFLIGHT_ENTRY(cublasScalEx)
(Handle* h, Int n, const void* alpha, Type at, void* x, Type xt, Int dx, Type execution) {
  return enter("cublasScalEx", h, scale_of, n, alpha, at, x, xt, dx, execution);
}
INFLIGHT_ENTRY(cublasCopyEx)
(Handle* h, Int n, const void* x, Type xt, Int dx, void* y, Type yt, Int dy) {
  return enter("cublasCopyEx", h, copy_of, n, x, xt, dx, y, yt, dy);
}
INFLIGHT_ENTRY(cublasSwapEx)
(Handle* h, Int n, void* x, Type xt, Int dx, void* y, Type yt, Int dy) {
  return enter("cublasSwapEx", h, swap_of, n, x, xt, dx, y, yt, dy);
}
INFLIGHT_ENTRY(cublasRotEx)
(Handle* h, Int n, void* x, Type xt, Int dx, void* y, Type yt, Int dy, const void* c, const void* s,
 Type number_type, Type execution) {
  return enter("cublasRotEx", h, rotate_of, n, x, xt, dx, y, yt, dy, c, s, number_type, execution);
}
