// Reductions by redux.sync: of integers of up to 64 bits, and less and greater of floating-point
// values, whose bits order as integers once those of negative values are inverted.
#pragma once
#include <inflight/impl/collective_traits.cuh>
#include <inflight/ptx/redux.cuh>

namespace inflight::impl {

template <class T, class Op>
INFLIGHT_HOST_DEVICE constexpr bool hardware_reduces() {
  constexpr operation does = what<T, Op>;
  if constexpr (does == operation::other || std::is_same_v<T, bool> || sizeof(T) > 8) return false;
  if constexpr (is_half_pair<T>) return false;
  if constexpr (is_real<T>) return does == operation::less || does == operation::greater;
  return true;
}

// Reduces 32-bit words.
template <operation Does, class Word>
INFLIGHT_DEVICE Word redux_word(std::uint32_t mask, Word value) {
  if constexpr (Does == operation::plus) return Word(ptx::redux_add(mask, std::uint32_t(value)));
  if constexpr (Does == operation::less) return ptx::redux_min(mask, value);
  if constexpr (Does == operation::greater) return ptx::redux_max(mask, value);
  if constexpr (Does == operation::bit_and) return Word(ptx::redux_and(mask, std::uint32_t(value)));
  if constexpr (Does == operation::bit_or) return Word(ptx::redux_or(mask, std::uint32_t(value)));
  if constexpr (Does == operation::bit_xor) return Word(ptx::redux_xor(mask, std::uint32_t(value)));
}

template <operation Does, class Long>
INFLIGHT_DEVICE Long redux_long(std::uint32_t mask, Long value) {
  using High = std::conditional_t<std::is_signed_v<Long>, std::int32_t, std::uint32_t>;
  const std::uint64_t bits = std::uint64_t(value);
  if constexpr (Does == operation::plus) {
    // 27 bits at a time: the sum of 32 such pieces fits a word.
    constexpr std::uint32_t piece = (1u << 27) - 1;
    const std::uint64_t low = ptx::redux_add(mask, std::uint32_t(bits) & piece);
    const std::uint64_t middle = ptx::redux_add(mask, std::uint32_t(bits >> 27) & piece);
    const std::uint64_t high = ptx::redux_add(mask, std::uint32_t(bits >> 54));
    return Long(low + (middle << 27) + (high << 54));
  } else if constexpr (Does == operation::less || Does == operation::greater) {
    // The high words decide. Among the lanes with the best high word, the low words decide.
    const High own = High(bits >> 32), high = redux_word<Does>(mask, own);
    const std::uint32_t out = Does == operation::less ? ~0u : 0u;
    const std::uint32_t low = redux_word<Does>(mask, own == high ? std::uint32_t(bits) : out);
    return Long(std::uint64_t(std::uint32_t(high)) << 32 | low);
  } else {
    const std::uint32_t low = redux_word<Does>(mask, std::uint32_t(bits));
    const std::uint32_t high = redux_word<Does>(mask, std::uint32_t(bits >> 32));
    return Long(std::uint64_t(high) << 32 | low);
  }
}

// Reduces the values of the lanes of `mask`; all of them get the result.
template <operation Does, class T>
INFLIGHT_DEVICE T redux(std::uint32_t mask, T value) {
  if constexpr (is_half<T>) {
    constexpr std::int32_t infinity = std::is_same<T, __half>::value ? 0x7c00 : 0x7f80;
    std::int16_t bits;
    memcpy(&bits, &value, sizeof(T));
    std::int32_t order = bits ^ ((bits >> 15) & 0x7fff);
    if ((bits & 0x7fff) > infinity) order = Does == operation::less ? 0x7fff : -0x8000;
    order = redux_word<Does>(mask, order);
    bits = static_cast<std::int16_t>(order ^ ((order >> 15) & 0x7fff));
    memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    constexpr Int magnitude = Int(~std::uint64_t(0) >> (65 - 8 * sizeof(T)));
    Int bits;
    std::memcpy(&bits, &value, sizeof(T));
    bits ^= (bits >> (8 * sizeof(T) - 1)) & magnitude;
    // A NaN becomes the extreme value that never wins.
    if (value != value) bits = Does == operation::less ? magnitude : Int(~magnitude);
    bits = redux<Does>(mask, bits);
    bits ^= (bits >> (8 * sizeof(T) - 1)) & magnitude;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  } else if constexpr (sizeof(T) == 8) {
    return T(redux_long<Does>(
        mask, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>(value)));
  } else {
    using Word = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
    return T(redux_word<Does>(mask, Word(value)));
  }
}

}  // namespace inflight::impl
