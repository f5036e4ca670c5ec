// Operators for collectives: what `reduce` and the scans combine values with.
//
// The names and meanings of cooperative groups: `plus`, `bit_and`, `bit_or` and `bit_xor` give what
// the C++ operator gives, `less` the lesser of two values and `greater` the greater, both by
// operator<. Write the type, `plus<int>()`: where it is one that the chip reduces by itself,
// `reduce` sees that and uses the hardware. Without a type, `plus<>()` takes the types of its
// arguments, which may differ.
#pragma once
#include <inflight/impl/config.cuh>

namespace inflight {

// The sum.
template <class T = void>
struct plus {
  INFLIGHT_HOST_DEVICE constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

// The lesser: `a` where neither is less.
template <class T = void>
struct less {
  INFLIGHT_HOST_DEVICE constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

// The greater: `a` where neither is less.
template <class T = void>
struct greater {
  INFLIGHT_HOST_DEVICE constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

// Bit by bit: and, or, exclusive or.
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

// Without a type: arguments are forwarded as they are.
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
