// One function for each type and operation.
#include "gpu/async/reduction.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/numbers/small_floats.hpp"

namespace inflight::async {
namespace {

using numbers::Bf16;
using numbers::F16;
using numbers::f32_infinity;
using numbers::f32_magnitude;

// Sets every element to f(old, operand), each atomically.
template <class T, T (*f)(T, T)>
void each(std::byte* destination, const std::byte* source, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    T operand;
    std::memcpy(&operand, source + at, sizeof operand);
    std::atomic_ref<T> element(*reinterpret_cast<T*>(destination + at));
    T old = element.load(std::memory_order_relaxed);
    while (!element.compare_exchange_weak(old, f(old, operand), std::memory_order_relaxed)) {
    }
  }
}

template <class T>
T add(T a, T b) {
  return static_cast<T>(a + b);
}
template <class T>
T smaller(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
T increment(T a, T b) {
  return a >= b ? 0 : a + 1;
}
template <class T>
T decrement(T a, T b) {
  return a == 0 || a > b ? b : a - 1;
}
template <class T>
T bit_and(T a, T b) {
  return a & b;
}
template <class T>
T bit_or(T a, T b) {
  return a | b;
}
template <class T>
T bit_xor(T a, T b) {
  return a ^ b;
}

std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
  const float sum = std::bit_cast<float>(a) + std::bit_cast<float>(b);
  return std::isnan(sum) ? f32_magnitude : std::bit_cast<std::uint32_t>(sum);
}
// Replaces a subnormal by a zero of its sign.
std::uint32_t flushed(std::uint32_t f32) {
  return (f32 & f32_infinity) == 0 ? f32 & ~f32_magnitude : f32;
}
std::uint32_t add_f32_ftz(std::uint32_t a, std::uint32_t b) {
  return flushed(add_f32(flushed(a), flushed(b)));
}
// A NaN keeps all its bits. The operand's NaN takes precedence over the one in memory.
std::uint64_t add_f64(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t indefinite = 0xfff8000000000000;  // infinity - infinity
  const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b), sum = x + y;
  if (std::isnan(y)) return b;
  if (std::isnan(x)) return a;
  return std::isnan(sum) ? indefinite : std::bit_cast<std::uint64_t>(sum);
}

// A float holds more than twice the digits of a small float, so the sum is in effect rounded once.
template <class Format>
std::uint16_t add_small(std::uint16_t a, std::uint16_t b) {
  return static_cast<std::uint16_t>(Format::round(Format::value(a) + Format::value(b)));
}
// Of a number and a NaN, returns the number. -0 is less than +0.
template <class Format, bool least>
std::uint16_t extreme_small(std::uint16_t a, std::uint16_t b) {
  const bool a_nan = (a & 0x7fff) > Format::infinity, b_nan = (b & 0x7fff) > Format::infinity;
  if (a_nan && b_nan) return Format::nan;
  if (a_nan || b_nan) return a_nan ? b : a;
  const float x = Format::value(a), y = Format::value(b);
  const bool a_less = x < y || (x == y && std::signbit(x));
  return a_less == least ? a : b;
}

struct Row {
  TensorType type;
  Reduce functions[reduce_op_count];  // by ReduceOp
};

template <class U, class S>  // arithmetic in U, comparison in S
constexpr Reduce integer_functions[] = {
    each<U, add<U>>,       each<S, smaller<S>>, each<S, larger<S>>, each<U, increment<U>>,
    each<U, decrement<U>>, each<U, bit_and<U>>, each<U, bit_or<U>>, each<U, bit_xor<U>>};
template <class U, class S, bool counts>
constexpr Row integer_row(TensorType type) {
  const auto& f = integer_functions<U, S>;
  return {type,
          {f[0], f[1], f[2], counts ? f[3] : nullptr, counts ? f[4] : nullptr, f[5], f[6], f[7]}};
}

using u16 = std::uint16_t;
constexpr Row rows[] = {
    integer_row<std::uint32_t, std::uint32_t, true>(TensorType::u32),
    integer_row<std::uint32_t, std::int32_t, false>(TensorType::s32),
    integer_row<std::uint64_t, std::uint64_t, false>(TensorType::u64),
    {TensorType::s64,
     {nullptr, each<std::int64_t, smaller<std::int64_t>>,
      each<std::int64_t, larger<std::int64_t>>}},
    {TensorType::f16,
     {each<u16, add_small<F16>>, each<u16, extreme_small<F16, true>>,
      each<u16, extreme_small<F16, false>>}},
    {TensorType::bf16,
     {each<u16, add_small<Bf16>>, each<u16, extreme_small<Bf16, true>>,
      each<u16, extreme_small<Bf16, false>>}},
    {TensorType::f32, {each<std::uint32_t, add_f32>}},
    {TensorType::f64, {each<std::uint64_t, add_f64>}},
    {TensorType::f32_ftz, {each<std::uint32_t, add_f32_ftz>}},
    {TensorType::tf32, {each<std::uint32_t, add_f32>}},
    {TensorType::tf32_ftz, {each<std::uint32_t, add_f32_ftz>}},
};

}  // namespace

Reduce reduction(ReduceOp op, TensorType type) {
  for (const Row& row : rows)
    if (row.type == type) return row.functions[static_cast<unsigned>(op)];
  return nullptr;
}

}  // namespace inflight::async
