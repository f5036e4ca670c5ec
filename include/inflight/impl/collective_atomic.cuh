// One thread's update of a variable that others update too, with any operator.
#pragma once
#include <cstring>
#include <inflight/impl/collective_traits.cuh>

namespace inflight::impl {

// Compare and swap until nobody came between.
template <class Word, class Target, class Op>
INFLIGHT_DEVICE void update_by_exchange(Target& target, const Target& value, Op& op) {
  Word* at = reinterpret_cast<Word*>(&target);
  Word seen = *const_cast<volatile Word*>(at), expected;
  do {
    expected = seen;
    Target now;
    std::memcpy(&now, &expected, sizeof(Target));
    const Target next = op(now, value);
    Word wanted;
    std::memcpy(&wanted, &next, sizeof(Target));
    seen = atomicCAS(at, expected, wanted);
  } while (seen != expected);
}

template <class Target, class Op>
INFLIGHT_DEVICE void update(Target& target, const Target& value, Op& op) {
  static_assert(sizeof(Target) == 4 || sizeof(Target) == 8,
                "an atomic update needs a variable of 4 or 8 bytes");
  constexpr operation does = what<Target, std::remove_cv_t<Op>>;
  if constexpr (std::is_floating_point_v<Target> && does == operation::plus) {
    atomicAdd(&target, value);
  } else if constexpr (std::is_integral_v<Target> && does != operation::other) {
    constexpr bool is_signed = std::is_signed_v<Target>;
    using Bits = std::conditional_t<sizeof(Target) == 4, unsigned, unsigned long long>;
    using Number =
        std::conditional_t<is_signed, std::conditional_t<sizeof(Target) == 4, int, long long>,
                           Bits>;
    Bits* bits = reinterpret_cast<Bits*>(&target);
    Number* number = reinterpret_cast<Number*>(&target);
    if constexpr (does == operation::plus) atomicAdd(bits, Bits(value));
    if constexpr (does == operation::less) atomicMin(number, Number(value));
    if constexpr (does == operation::greater) atomicMax(number, Number(value));
    if constexpr (does == operation::bit_and) atomicAnd(bits, Bits(value));
    if constexpr (does == operation::bit_or) atomicOr(bits, Bits(value));
    if constexpr (does == operation::bit_xor) atomicXor(bits, Bits(value));
  } else {
    decltype(auto) apply = applied<Target>(op);
    if constexpr (sizeof(Target) == 4)
      update_by_exchange<unsigned>(target, value, apply);
    else
      update_by_exchange<unsigned long long>(target, value, apply);
  }
}

template <class Target>
INFLIGHT_DEVICE void store_relaxed(Target& target, const Target& value) {
  static_assert(sizeof(Target) == 4 || sizeof(Target) == 8,
                "an atomic store needs a variable of 4 or 8 bytes");
  std::conditional_t<sizeof(Target) == 4, std::uint32_t, std::uint64_t> bits;
  std::memcpy(&bits, &value, sizeof(Target));
  if constexpr (sizeof(Target) == 4)
    asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(&target), "r"(bits) : "memory");
  else
    asm volatile("st.relaxed.gpu.b64 [%0], %1;" ::"l"(&target), "l"(bits) : "memory");
}

}  // namespace inflight::impl
