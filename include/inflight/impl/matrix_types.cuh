// The element types of matrix instructions: their names in PTX, and which of them go together.
#pragma once
#include <inflight/bytes.cuh>

struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

#define INFLIGHT_NO_MATRIX_INSTRUCTIONS                                                     \
  "Matrix products need nvcc or NVRTC of CUDA 13 or later; other compilers do not take an " \
  "instruction's modifiers as an operand of asm."

namespace inflight::impl {

// A text known at compile time, for the modifiers of an instruction.
struct matrix_text {
  char value[48] = {};
  int size = 0;
  INFLIGHT_HOST_DEVICE constexpr matrix_text& operator<<(const char* more) {
    for (; *more != 0; ++more) value[size++] = *more;
    return *this;
  }
  INFLIGHT_HOST_DEVICE constexpr matrix_text& operator<<(int number) {
    if (number >= 10) *this << number / 10;
    value[size++] = static_cast<char>('0' + number % 10);
    return *this;
  }
};

template <int... I>
struct text_indices {
  using type = text_indices;
};
template <int Count, int... I>
struct text_indices_to : text_indices_to<Count - 1, Count - 1, I...> {};
template <int... I>
struct text_indices_to<0, I...> : text_indices<I...> {};

// The text that Make::text() returns, as an array of its size, which asm statements take.
template <class Make, class = typename text_indices_to<Make::text().size>::type>
struct text_array;
template <class Make, int... I>
struct text_array<Make, text_indices<I...>> {
  static constexpr char value[] = {Make::text().value[I]..., 0};
};

// The type's name in PTX as an operand of a product; empty if it is none. A float is read as tf32.
template <class T>
INFLIGHT_HOST_DEVICE constexpr const char* operand_name() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, __half>) return ".f16";
  if constexpr (std::is_same_v<U, __nv_bfloat16>) return ".bf16";
  if constexpr (std::is_same_v<U, float>) return ".tf32";
  if constexpr (std::is_same_v<U, __nv_fp8_e4m3>) return ".e4m3";
  if constexpr (std::is_same_v<U, __nv_fp8_e5m2>) return ".e5m2";
  if constexpr (std::is_same_v<U, std::int8_t>) return ".s8";
  if constexpr (std::is_same_v<U, std::uint8_t>) return ".u8";
  return "";
}

// The same for the type of sums.
template <class T>
INFLIGHT_HOST_DEVICE constexpr const char* sum_name() {
  if constexpr (std::is_same_v<T, float>) return ".f32";
  if constexpr (std::is_same_v<T, __half>) return ".f16";
  if constexpr (std::is_same_v<T, int>) return ".s32";
  return "";
}

template <class T>
inline constexpr bool is_fp8 = std::is_same_v<T, __nv_fp8_e4m3> || std::is_same_v<T, __nv_fp8_e5m2>;
template <class T>
inline constexpr bool is_byte_integer =
    std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::uint8_t>;

// Whether products of A and B can be added to sums of type Sum.
template <class Sum, class A, class B>
INFLIGHT_HOST_DEVICE constexpr bool types_multiply() {
  if constexpr (is_byte_integer<A> && is_byte_integer<B>) return std::is_same_v<Sum, int>;
  if constexpr (is_fp8<A> && is_fp8<B>)
    return std::is_same_v<Sum, float> || std::is_same_v<Sum, __half>;
  if constexpr (!std::is_same_v<A, B>) return false;
  if constexpr (std::is_same_v<A, __half>)
    return std::is_same_v<Sum, float> || std::is_same_v<Sum, __half>;
  return (std::is_same_v<A, __nv_bfloat16> || std::is_same_v<A, float>)&&std::is_same_v<Sum, float>;
}

template <class Sum, class A, class B>
INFLIGHT_HOST_DEVICE constexpr void require_types_that_multiply() {
  static_assert(types_multiply<Sum, A, B>(),
                "No matrix instruction multiplies these types: f16 gives float or f16, bf16 and "
                "float (as tf32) give float, fp8 gives float or f16, 8-bit integers give int; A "
                "and B differ only among fp8 types or among 8-bit integers.");
}

}  // namespace inflight::impl
