// The operations of atom and red on a value (PTX ISA, "Parallel Synchronization and Communication
// Instructions: atom"). Each is a function of the old value and the operands.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "gpu/numbers/small_floats.hpp"

namespace inflight::machine::atomics {

// An operation has Value, the type of an element's bits, and apply(old, b, c, global), which
// returns the new bits. `global`: the element is in global memory.

template <class T>
struct Add {
  using Value = std::make_unsigned_t<T>;
  static Value apply(Value old, Value b, Value, bool) { return static_cast<Value>(old + b); }
};
template <class U>
struct And {
  using Value = U;
  static U apply(U old, U b, U, bool) { return old & b; }
};
template <class U>
struct Or {
  using Value = U;
  static U apply(U old, U b, U, bool) { return old | b; }
};
template <class U>
struct Xor {
  using Value = U;
  static U apply(U old, U b, U, bool) { return old ^ b; }
};
template <class U>
struct Exchange {
  using Value = U;
  static U apply(U, U b, U, bool) { return b; }
};
template <class U>
struct CompareAndSwap {
  using Value = U;
  static U apply(U old, U b, U c, bool) { return old == b ? c : old; }
};
template <class U>
struct Increment {
  using Value = U;
  static U apply(U old, U b, U, bool) { return old >= b ? 0 : old + 1; }
};
template <class U>
struct Decrement {
  using Value = U;
  static U apply(U old, U b, U, bool) { return old == 0 || old > b ? b : old - 1; }
};
template <class T>
struct Min {
  using Value = std::make_unsigned_t<T>;
  static Value apply(Value old, Value b, Value, bool) {
    return static_cast<T>(b) < static_cast<T>(old) ? b : old;
  }
};
template <class T>
struct Max {
  using Value = std::make_unsigned_t<T>;
  static Value apply(Value old, Value b, Value, bool) {
    return static_cast<T>(b) > static_cast<T>(old) ? b : old;
  }
};

inline float flush(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.f, x) : x;
}

// In global memory subnormals are flushed; in shared memory they are kept.
struct AddFloat {
  using Value = std::uint32_t;
  static Value apply(Value old, Value b, Value, bool global) {
    float x = std::bit_cast<float>(old), y = std::bit_cast<float>(b);
    if (global) x = flush(x), y = flush(y);
    const float sum = x + y;
    if (std::isnan(sum)) return 0x7fffffff;
    return std::bit_cast<Value>(global ? flush(sum) : sum);
  }
};
struct AddDouble {
  using Value = std::uint64_t;
  static Value apply(Value old, Value b, Value, bool) {
    return std::bit_cast<Value>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
  }
};

// --- 16-bit floating point: computed as float, in which rounding a sum twice changes nothing ---

struct Sum {
  static float of(float a, float b) { return a + b; }
};
// As min and max: of a number and a NaN the result is the number, and -0 is less than +0.
struct Least {
  static float of(float a, float b) {
    if (std::isnan(a)) return b;
    if (a == b) return std::signbit(a) ? a : b;
    return b < a ? b : a;
  }
};
struct Greatest {
  static float of(float a, float b) {
    if (std::isnan(a)) return b;
    if (a == b) return std::signbit(a) ? b : a;
    return b > a ? b : a;
  }
};

// Format: numbers::F16 or numbers::Bf16.
template <class Format, class Function>
struct Small {
  using Value = std::uint16_t;
  static Value apply(Value old, Value b, Value, bool) {
    return static_cast<Value>(Format::round(Function::of(Format::value(old), Format::value(b))));
  }
};
// Two 16-bit values in a word.
template <class Format, class Function>
struct SmallPair {
  using Value = std::uint32_t;
  static Value apply(Value old, Value b, Value, bool global) {
    const auto one = [&](int shift) {
      return std::uint32_t{Small<Format, Function>::apply(static_cast<std::uint16_t>(old >> shift),
                                                          static_cast<std::uint16_t>(b >> shift), 0,
                                                          global)};
    };
    return one(0) | one(16) << 16;
  }
};

}  // namespace inflight::machine::atomics
