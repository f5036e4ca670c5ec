// Operators with which `reduce` and the scans combine values.
//
// Names and meanings are those of cooperative groups: `plus`, `bit_and`, `bit_or` and `bit_xor` are
// the C++ operators, `less` is the lesser of two values and `greater` the greater, both by
// operator<. Write the type, as in `plus<int>()`: for types that the hardware can reduce, `reduce`
// then uses it. Without a type, `plus<>()` takes the types of its arguments, which may differ.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight {

// The sum.
template <class T = void>
struct plus {
  INFLIGHT_HOST_DEVICE constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

// The lesser; `a` if neither is less.
template <class T = void>
struct less {
  INFLIGHT_HOST_DEVICE constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

// The greater; `a` if neither is less.
template <class T = void>
struct greater {
  INFLIGHT_HOST_DEVICE constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

// Bitwise and, or, exclusive or.
template <class T = void>
struct bit_and {
  INFLIGHT_HOST_DEVICE constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a & b);
  }
};
template <class T = void>
struct bit_or {
  INFLIGHT_HOST_DEVICE constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a | b);
  }
};
template <class T = void>
struct bit_xor {
  INFLIGHT_HOST_DEVICE constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a ^ b);
  }
};

// Without a type: arguments are forwarded unchanged.
template <>
struct plus<void> {
  template <class A, class B>
  INFLIGHT_HOST_DEVICE constexpr auto operator()(A&& a, B&& b) const
      -> decltype(std::forward<A>(a) + std::forward<B>(b)) {
    return std::forward<A>(a) + std::forward<B>(b);
  }
};
template <>
struct less<void> {
  template <class A, class B>
  INFLIGHT_HOST_DEVICE constexpr std::common_type_t<A, B> operator()(A&& a, B&& b) const {
    return b < a ? std::forward<B>(b) : std::forward<A>(a);
  }
};
template <>
struct greater<void> {
  template <class A, class B>
  INFLIGHT_HOST_DEVICE constexpr std::common_type_t<A, B> operator()(A&& a, B&& b) const {
    return a < b ? std::forward<B>(b) : std::forward<A>(a);
  }
};
template <>
struct bit_and<void> {
  template <class A, class B>
  INFLIGHT_HOST_DEVICE constexpr auto operator()(A&& a, B&& b) const
      -> decltype(std::forward<A>(a) & std::forward<B>(b)) {
    return std::forward<A>(a) & std::forward<B>(b);
  }
};
template <>
struct bit_or<void> {
  template <class A, class B>
  INFLIGHT_HOST_DEVICE constexpr auto operator()(A&& a, B&& b) const
      -> decltype(std::forward<A>(a) | std::forward<B>(b)) {
    return std::forward<A>(a) | std::forward<B>(b);
  }
};
template <>
struct bit_xor<void> {
  template <class A, class B>
  INFLIGHT_HOST_DEVICE constexpr auto operator()(A&& a, B&& b) const
      -> decltype(std::forward<A>(a) ^ std::forward<B>(b)) {
    return std::forward<A>(a) ^ std::forward<B>(b);
  }
};

}  // namespace inflight
