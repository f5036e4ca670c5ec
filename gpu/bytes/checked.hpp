// Sums and products of addresses and sizes that a program chose. They remember an overflow instead
// of wrapping, so that a comparison with a limit cannot be true by chance.
#pragma once
#include <cstdint>
#include <optional>

namespace inflight {

// A number from 0 to 2^64-1, or the knowledge that a sum, product or difference was none.
class Checked {
 public:
  constexpr Checked(std::uint64_t value)
      : value_(value) {}  // numbers take part in sums as they are

  constexpr bool exact() const { return exact_; }
  // The number, or `otherwise` if it is not exact.
  constexpr std::uint64_t value_or(std::uint64_t otherwise) const {
    return exact_ ? value_ : otherwise;
  }
  // The number, or the greatest one if it is not exact: more bytes than any memory has.
  constexpr std::uint64_t saturated() const { return value_or(~std::uint64_t{0}); }
  constexpr std::optional<std::uint64_t> get() const {
    return exact_ ? std::optional(value_) : std::nullopt;
  }
  // Is it exact and at most `limit`?
  constexpr bool within(std::uint64_t limit) const { return exact_ && value_ <= limit; }

  friend constexpr Checked operator+(Checked a, Checked b) {
    std::uint64_t sum = 0;
    const bool wraps = __builtin_add_overflow(a.value_, b.value_, &sum);
    return {sum, a.exact_ && b.exact_ && !wraps};
  }
  // Not exact if `b` is greater than `a`.
  friend constexpr Checked operator-(Checked a, Checked b) {
    std::uint64_t difference = 0;
    const bool wraps = __builtin_sub_overflow(a.value_, b.value_, &difference);
    return {difference, a.exact_ && b.exact_ && !wraps};
  }
  // Not exact if either factor is not, even if the other is 0.
  friend constexpr Checked operator*(Checked a, Checked b) {
    std::uint64_t product = 0;
    const bool wraps = __builtin_mul_overflow(a.value_, b.value_, &product);
    return {product, a.exact_ && b.exact_ && !wraps};
  }

 private:
  constexpr Checked(std::uint64_t value, bool exact) : value_(value), exact_(exact) {}
  std::uint64_t value_;
  bool exact_ = true;
};

// The least multiple of `unit` that is not below `value`. `unit` is not 0.
constexpr Checked round_up(Checked value, std::uint64_t unit) {
  const auto number = value.get();
  if (!number) return value;
  const std::uint64_t rest = *number % unit;
  return rest == 0 ? value : value + (unit - rest);
}

}  // namespace inflight
