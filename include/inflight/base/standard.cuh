// The parts of the C++ standard library that this library uses: type names, type traits, memcpy,
// move and forward. NVRTC, which has no standard library, gets them here in namespace std, except
// move and forward, which it has built in. For a program with a standard library of its own,
// -DINFLIGHT_STANDARD_HEADERS makes the library include that one's headers instead.
#pragma once
#if !defined(__CUDACC_RTC__) || defined(INFLIGHT_STANDARD_HEADERS)
#  include <cstddef>
#  include <cstdint>
#  include <cstring>
#  include <type_traits>
#  include <utility>
#else

namespace std {

using ::memcpy;
using ::ptrdiff_t;
using ::size_t;

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
#  if defined(_WIN32)
using int64_t = long long;
using uint64_t = unsigned long long;
#  else
using int64_t = long;
using uint64_t = unsigned long;
#  endif
using uintptr_t = uint64_t;

template <class T, T Value>
struct integral_constant {
  static constexpr T value = Value;
  using value_type = T;
  using type = integral_constant;
  __device__ constexpr operator T() const { return Value; }
};
template <bool Value>
using bool_constant = integral_constant<bool, Value>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class...>
using void_t = void;

template <bool, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  using type = T;
};
template <bool Condition, class T = void>
using enable_if_t = typename enable_if<Condition, T>::type;

template <bool, class Then, class>
struct conditional {
  using type = Then;
};
template <class Then, class Else>
struct conditional<false, Then, Else> {
  using type = Else;
};
template <bool Condition, class Then, class Else>
using conditional_t = typename conditional<Condition, Then, Else>::type;

// The first one that is true, or the last; those after it are not instantiated.
template <class...>
struct disjunction : false_type {};
template <class Last>
struct disjunction<Last> : Last {};
template <class First, class... More>
struct disjunction<First, More...> : conditional_t<First::value, First, disjunction<More...>> {};

template <class, class>
struct is_same : false_type {};
template <class T>
struct is_same<T, T> : true_type {};
template <class A, class B>
inline constexpr bool is_same_v = is_same<A, B>::value;

template <class T>
struct remove_cv {
  using type = T;
};
template <class T>
struct remove_cv<const T> {
  using type = T;
};
template <class T>
struct remove_cv<volatile T> {
  using type = T;
};
template <class T>
struct remove_cv<const volatile T> {
  using type = T;
};
template <class T>
using remove_cv_t = typename remove_cv<T>::type;

// The type of a T passed by value: arrays and functions become pointers.
template <class T>
struct decay {
  using type = remove_cv_t<T>;
};
template <class T>
struct decay<T&> : decay<T> {};
template <class T>
struct decay<T&&> : decay<T> {};
template <class T>
struct decay<T[]> {
  using type = T*;
};
template <class T, size_t Count>
struct decay<T[Count]> {
  using type = T*;
};
template <class Result, class... Arguments>
struct decay<Result(Arguments...)> {
  using type = Result (*)(Arguments...);
};
template <class T>
using decay_t = typename decay<T>::type;

template <class T>
__device__ T&& declval() noexcept;

template <class A, class B>
using common_type_t = decay_t<decltype(false ? declval<A>() : declval<B>())>;

template <class T>
inline constexpr bool is_void_v = is_same_v<remove_cv_t<T>, void>;

template <class T>
inline constexpr bool is_floating_point_v =
    is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>;

template <class>
struct is_integral : false_type {};
#  define INFLIGHT_INTEGRAL(TYPE) \
    template <>                   \
    struct is_integral<TYPE> : true_type {}
INFLIGHT_INTEGRAL(bool);
INFLIGHT_INTEGRAL(char);
INFLIGHT_INTEGRAL(signed char);
INFLIGHT_INTEGRAL(unsigned char);
INFLIGHT_INTEGRAL(wchar_t);
INFLIGHT_INTEGRAL(char16_t);
INFLIGHT_INTEGRAL(char32_t);
INFLIGHT_INTEGRAL(short);
INFLIGHT_INTEGRAL(unsigned short);
INFLIGHT_INTEGRAL(int);
INFLIGHT_INTEGRAL(unsigned int);
INFLIGHT_INTEGRAL(long);
INFLIGHT_INTEGRAL(unsigned long);
INFLIGHT_INTEGRAL(long long);
INFLIGHT_INTEGRAL(unsigned long long);
#  undef INFLIGHT_INTEGRAL
template <class T>
struct is_integral<const T> : is_integral<T> {};
template <class T>
struct is_integral<volatile T> : is_integral<T> {};
template <class T>
struct is_integral<const volatile T> : is_integral<T> {};
template <class T>
inline constexpr bool is_integral_v = is_integral<T>::value;

template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;

template <class T, bool = is_arithmetic_v<T>>
struct is_signed : false_type {};
template <class T>
struct is_signed<T, true> : bool_constant<(T(-1) < T(0))> {};
template <class T>
inline constexpr bool is_signed_v = is_signed<T>::value;

template <class T>
struct is_enum : bool_constant<__is_enum(T)> {};
template <class T>
struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T>
inline constexpr bool is_trivially_copyable_v = is_trivially_copyable<T>::value;
template <class Base, class T>
struct is_base_of : bool_constant<__is_base_of(Base, T)> {};

template <class From, class To>
inline constexpr bool is_convertible_v = __is_convertible_to(From, To);

}  // namespace std
#endif
