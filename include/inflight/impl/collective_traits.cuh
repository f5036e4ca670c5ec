// Compile-time properties for collectives: a group's number of threads, whether its threads are
// lanes of one warp, whether the hardware has an operator, and whether the operator commutes.
#pragma once
#include <inflight/base/config.cuh>
#include <inflight/bytes.cuh>
#include <inflight/operators.cuh>

namespace inflight::impl {

// The number of a group's threads if its type states it, else 0.
template <class Group, class = void>
struct static_threads : std::integral_constant<unsigned, 0> {};
template <class Group>
struct static_threads<Group,
                      std::void_t<std::integral_constant<unsigned, unsigned(Group::num_threads())>>>
    : std::integral_constant<unsigned, unsigned(Group::num_threads())> {};

// Groups within one warp have a lane mask.
template <class Group, class = void>
struct in_warp : std::false_type {};
template <class Group>
struct in_warp<Group, std::void_t<decltype(declval<const Group&>().mask())>>
    : std::bool_constant<(static_threads<Group>::value <= 32)> {};

// Groups of several blocks.
template <class Group, class = void>
struct has_blocks : std::false_type {};
template <class Group>
struct has_blocks<Group, std::void_t<decltype(declval<const Group&>().num_blocks())>>
    : std::true_type {};
template <class Group, class = void>
struct shares_memory : std::false_type {};
template <class Group>
struct shares_memory<
    Group, std::void_t<decltype(declval<const Group&>().map_shared_rank((int*)nullptr, 0))>>
    : std::true_type {};

// The type of op(value, value), in which a collective computes.
template <class Value, class Op>
using result_of = std::decay_t<decltype(declval<std::decay_t<Op>&>()(
    declval<std::decay_t<Value>&>(), declval<std::decay_t<Value>&>()))>;

template <class T>
INFLIGHT_HOST_DEVICE constexpr void require_value() {
  static_assert(moves_as_bytes<T>,
                "reduce and scans move values between threads as bytes: the type must be trivially "
                "copyable, or specialize inflight::moves_as_bytes as true.");
  static_assert(sizeof(T) <= 32, "reduce and scans take values of at most 32 bytes.");
}

enum class operation { other, plus, less, greater, bit_and, bit_or, bit_xor };

// The library's operators on their own type, or on any type with `<>`.
template <class T, class Op>
struct operation_of : std::integral_constant<operation, operation::other> {};
#define INFLIGHT_OPERATION(NAME)                                                           \
  template <class T>                                                                       \
  struct operation_of<T, NAME<T>> : std::integral_constant<operation, operation::NAME> {}; \
  template <class T>                                                                       \
  struct operation_of<T, NAME<void>> : std::integral_constant<operation, operation::NAME> {}
INFLIGHT_OPERATION(plus);
INFLIGHT_OPERATION(less);
INFLIGHT_OPERATION(greater);
INFLIGHT_OPERATION(bit_and);
INFLIGHT_OPERATION(bit_or);
INFLIGHT_OPERATION(bit_xor);
#undef INFLIGHT_OPERATION

template <class T, class Op>
inline constexpr operation what = is_number<T> ? operation_of<T, Op>::value : operation::other;

// op(a, b) and op(b, a) give the same bits, so all lanes of a butterfly agree, whatever the order
// in which each combines.
template <class T, class Op>
inline constexpr bool commutes = what<T, Op> != operation::other;

// The lesser and the greater of floating-point values as in PTX "min" and "max": a number wins over
// a NaN, and -0 is below +0. With operator< alone the result would depend on the order. For pairs,
// each half separately.
template <class T, bool Greater>
struct extreme {
  INFLIGHT_DEVICE T operator()(T a, T b) const {
    if constexpr (is_half<T>)
      return Greater ? __hmax(a, b) : __hmin(a, b);
    else if constexpr (is_half_pair<T>)
      return Greater ? __hmax2(a, b) : __hmin2(a, b);
    else if constexpr (sizeof(T) == 4)
      return Greater ? fmaxf(a, b) : fminf(a, b);
    else
      return Greater ? fmax(a, b) : fmin(a, b);
  }
};
template <class T, bool Greater>
struct operation_of<T, extreme<T, Greater>>
    : std::integral_constant<operation, Greater ? operation::greater : operation::less> {};

// The greatest number of an integer type.
template <class T>
inline constexpr T greatest = std::is_signed_v<T> ? T(~std::uint64_t(0) >> (65 - 8 * sizeof(T)))
                                                  : T(~std::uint64_t(0));

// The neutral element of an operator that `what` recognises. (Of floating-point types it is -0 for
// sums, because 0 would turn -0 into 0, and a NaN for less and greater.)
template <class T, operation Does>
INFLIGHT_DEVICE T neutral() {
  if constexpr (is_half<T> || is_half_pair<T>) {
    constexpr std::uint32_t bits = Does == operation::plus ? 0x80008000u : 0x7fff7fffu;
    T value;
    memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    if constexpr (Does == operation::plus)
      return T(-0.0);
    else
      return T(__int_as_float(0x7fffffff));
  } else if constexpr (Does == operation::bit_and) {
    return T(~T(0));
  } else if constexpr (Does == operation::less) {
    return greatest<T>;
  } else if constexpr (Does == operation::greater) {
    return std::is_signed_v<T> ? T(~greatest<T>) : T(0);
  } else {
    return T(0);
  }
}

// The operator that collectives apply in place of `op`.
template <class T, class Op>
INFLIGHT_DEVICE decltype(auto) applied(Op& op) {
  if constexpr (is_real<T> && what<T, std::remove_cv_t<Op>> == operation::less)
    return extreme<T, false>{};
  else if constexpr (is_real<T> && what<T, std::remove_cv_t<Op>> == operation::greater)
    return extreme<T, true>{};
  else
    return (op);
}

}  // namespace inflight::impl
