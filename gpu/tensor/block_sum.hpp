// The sum that a tensor core makes of some products and an accumulator, as the papers have it
// (Fasi et al. 2021; Khattak, Mikaitis 2025; MMA-Sim 2025).
#pragma once
#include <span>

#include "gpu/tensor/element.hpp"

namespace inflight::tensor {

// Its value is a Number's; where it is a product, the significand may be as large as 4.
using Term = Number;

// Exact: exponents add, and the significand is not normalised.
Term times(const Number& x, const Number& y);

// How a sum becomes an accumulator: with so many fraction bits.
struct Kept {
  int bits;
  bool to_nearest;  // even; or towards zero
};
// f16 is rounded to nearest; others are cut off.
Kept kept_of(Element accumulator, int fraction_bits);

// All terms are aligned to the largest exponent, but at least to `least`. Each is truncated to
// `fraction_bits`; their sum is exact, and is rounded once. Subnormals count; there is one NaN, and
// a zero is positive.
std::uint64_t block_sum(std::span<const Term> terms, int fraction_bits, int least,
                        Element accumulator, Kept kept);

std::uint64_t nan_of(Element e);

}  // namespace inflight::tensor
