// Reads packed elements of all formats.
#include "gpu/tensor/element.hpp"

#include <cstring>

namespace inflight::tensor {

std::uint64_t element_at(Element element, const void* packed, std::size_t index) {
  const unsigned bits = format(element).bits;
  const std::size_t first = index * bits;
  const auto* at = static_cast<const std::byte*>(packed) + first / 8;
  std::uint64_t word = 0;
  std::memcpy(&word, at, bits < 8 ? 1 : bits / 8);
  return bits < 8 ? word >> first % 8 & ((1u << bits) - 1) : word;
}

std::int64_t integer_at(Element element, const void* packed, std::size_t index) {
  const auto bits = static_cast<std::int64_t>(element_at(element, packed, index));
  const int unused = 64 - format(element).bits;
  return format(element).is_signed ? bits << unused >> unused : bits;
}

Number unpack(Element element, std::uint64_t bits) {
  const Format& f = format(element);
  bits >>= f.ignored;
  const std::uint64_t ones = (std::uint64_t{1} << f.exponent) - 1;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << f.fraction) - 1);
  const std::uint64_t exponent = bits >> f.fraction & ones;
  Number n;
  n.negative = bits >> (f.fraction + f.exponent) & 1;
  n.fraction = f.fraction;
  if (f.has_infinity && exponent == ones) {
    n.kind = fraction ? Number::Kind::nan : Number::Kind::infinity;
  } else if (f.has_nan && !f.has_infinity && exponent == ones && fraction + 1 == 1u << f.fraction) {
    n.kind = Number::Kind::nan;
  } else if (exponent == 0) {
    n.exponent = f.least();
    n.significand = fraction;
  } else {
    n.exponent = static_cast<int>(exponent) - f.bias();
    n.significand = fraction | std::uint64_t{1} << f.fraction;
  }
  return n;
}

}  // namespace inflight::tensor
