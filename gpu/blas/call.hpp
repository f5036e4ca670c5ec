// The steps of a cuBLAS call: checks, submission to its stream, and its status.
#pragma once
#include <algorithm>
#include <climits>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "gpu/blas/abi.hpp"
#include "gpu/blas/handle.hpp"
#include "gpu/blas/numbers.hpp"
#include "gpu/cuda/core/work/library_work.hpp"

#define INFLIGHT_CUBLAS extern "C" __attribute__((visibility("default")))

namespace inflight::blas {

#ifndef INFLIGHT_MAJOR
#  define INFLIGHT_MAJOR 13
#endif
// The version is MAJOR * 10000 + MINOR * 100 + PATCH since cuBLAS 12.
inline constexpr int library_version = INFLIGHT_MAJOR * 10000;

Status of_exception(const char* name);
// Writes a call's status to the program's log (cublasLoggerConfigure). Returns its number.
int logged(const char* name, Status status);

// Calls a body through a pointer, so that the many entry points share one copy of the code.
template <class... Arguments>
class BodyOf {
 public:
  template <class Body>
  BodyOf(Body& body)
      : body_(&body), call_([](void* it, Arguments... arguments) {
          return (*static_cast<Body*>(it))(arguments...);
        }) {}
  Status operator()(Arguments... arguments) const { return call_(body_, arguments...); }

 private:
  void* body_;
  Status (*call_)(void*, Arguments...);
};
int call_guarded(const char* name, BodyOf<> body);
int call_guarded(Handle* handle, const char* name, BodyOf<Handle&> body);

// Returns the status of body() as a number. An exception becomes the matching status.
template <class Body>
int answer(const char* name, Body body) {
  return call_guarded(name, body);
}
// The same for a call with a handle: body(Handle&).
template <class Body>
int answer(Handle* handle, const char* name, Body body) {
  return call_guarded(handle, name, body);
}

// Reports once that a form of a call is not supported. Returns not_supported.
Status refuse_form(const char* name, std::string_view what);

using cuda::Region;
using cuda::Touch;

// A scalar argument passed by address. A host value is read at once. A device value is read when
// the stream runs the work. Without an address it is zero.
template <class T>
class Scalar {
 public:
  Scalar(const T* at, PointerMode mode) {
    if (mode == PointerMode::host)
      value_ = at ? *at : T{};
    else
      device_ = at;
  }
  Region region() const { return {device_, device_ ? sizeof(T) : 0}; }
  T operator()() const { return device_ ? *device_ : value_; }

 private:
  T value_{};
  const T* device_ = nullptr;
};

// One call: its name, its stream, and whether its pointers are host or device pointers.
class Call {
 public:
  Call(const char* name, void* stream, PointerMode pointers)
      : name_(name), stream_(stream), pointers_(pointers) {}
  Call(const char* name, const Handle& handle) : Call(name, handle.stream, handle.pointers) {}

  PointerMode pointers() const { return pointers_; }
  template <class T>
  Scalar<T> scalar(const T* at) const {
    return Scalar<T>(at, pointers_);
  }
  // Runs body(Touch) in stream order.
  Status submit(std::function<void(const Touch&)> body) const;
  // Runs body(Touch, numbers...) in stream order, with the scalars' values at that time.
  template <class Body, class... T>
  requires(sizeof...(T) > 0) Status submit(Body body, Scalar<T>... scalars)
  const {
    return submit(std::function<void(const Touch&)>([=](const Touch& touch) {
      if (touch({scalars.region()...})) body(touch, scalars()...);
    }));
  }
  // Runs body(Touch, T& result). In host pointer mode, returns once `result` is written.
  template <class T, class Body>
  Status write_result(T* result, Body body) const {
    if (!result) return Status::invalid_value;
    if (pointers_ != PointerMode::host)
      return submit([=](const Touch& touch) {
        if (touch({{result, sizeof(T), 1, 0, true}})) body(touch, *result);
      });
    return await([=](const Touch& touch) { body(touch, *result); });
  }
  // Like submit, but returns when the work is done (not_supported while the stream captures).
  Status await(std::function<void(const Touch&)> body) const;
  Status refuse(std::string_view what) const { return refuse_form(name_, what); }

 private:
  const char* name_;
  void* stream_;
  PointerMode pointers_;
};

// True if the CPU's BLAS, whose integers have 32 bits, can take every size.
template <class... Arguments>
bool all_narrow(Arguments... arguments) {
  const auto fits = [](auto each) {
    if constexpr (std::is_same_v<decltype(each), Size>)
      return each <= INT_MAX && each >= INT_MIN;
    else
      return true;
  };
  return (fits(arguments) && ...);
}

// Runs an entry point: function(Call, arguments...).
template <class Function, class... Arguments>
int enter(const char* name, Handle* handle, Function function, Arguments... arguments) {
  return answer(handle, name, [&](Handle& h) {
    const Call call(name, h);
    if (!all_narrow(arguments...)) return call.refuse("sizes past 2,147,483,647");
    return function(call, arguments...);
  });
}

// --- memory regions that calls read and write -------------------------------------------------

inline std::uint64_t whole(Size size) { return size > 0 ? std::uint64_t(size) : 0; }

template <class T>
Region vector(T* x, Size n, Size increment) {
  const auto step = std::uint64_t(increment < 0 ? -increment : increment) * sizeof(T);
  const bool dense = step == sizeof(T);
  return {x, dense ? whole(n) * sizeof(T) : sizeof(T), dense ? 1 : whole(n), step,
          !std::is_const_v<T>};
}
template <class T>
Region matrix(T* a, Size rows, Size columns, Size leading) {
  return {a, whole(rows) * sizeof(T), whole(columns), whole(leading) * sizeof(T),
          !std::is_const_v<T>};
}
template <class T>
Region packed(T* a, Size n) {
  return {a, Checked(whole(n) * (whole(n) + 1) / 2) * sizeof(T), 1, 0, !std::is_const_v<T>};
}
// The same region, marked as read.
inline Region read_of(Region region) {
  region.written = false;
  return region;
}
// The matrix at index `i` of a batch whose matrices lie `stride` elements of `element` bytes apart.
// Null, where no memory is, if the distance has no number.
inline const void* matrix_at(const void* first, Size i, Size stride, std::size_t element) {
  Size distance = 0;
  if (__builtin_mul_overflow(i, stride, &distance) ||
      __builtin_mul_overflow(distance, Size(element), &distance))
    return nullptr;
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(first) +
                                       std::uintptr_t(distance));
}
// A triangle with its diagonal, one region per column.
std::vector<Region> triangle_of(const void* a, std::size_t element, bool written, Size n,
                                Size leading, Fill fill);
template <class T>
std::vector<Region> triangle(T* a, Size n, Size leading, Fill fill) {
  return triangle_of(a, sizeof(T), !std::is_const_v<T>, n, leading, fill);
}

// --- arguments --------------------------------------------------------------------------------

inline char letter(Operation op) { return "NTC"[int(op)]; }
inline char letter(Fill fill) { return "LU"[int(fill)]; }
inline char letter(Diagonal diagonal) { return "NU"[int(diagonal)]; }
inline char letter(Side side) { return "LR"[int(side)]; }
inline bool valid(Operation op) { return int(op) >= 0 && int(op) <= 2; }
inline bool valid(Fill fill) { return int(fill) == 0 || int(fill) == 1; }
inline bool valid(Diagonal diagonal) { return int(diagonal) == 0 || int(diagonal) == 1; }
inline bool valid(Side side) { return int(side) == 0 || int(side) == 1; }
// True if `leading` is a valid leading dimension for `rows` rows.
inline bool leads(Size leading, Size rows) { return leading >= std::max<Size>(1, rows); }
template <class... Sizes>
bool sizes(Sizes... each) {
  return ((each >= 0) && ...);
}

}  // namespace inflight::blas
