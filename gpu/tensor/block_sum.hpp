// The sum of some products and an accumulator as a tensor core computes it, according to the papers
// of Fasi et al. (2021), Khattak and Mikaitis (2025) and MMA-Sim (2025).
#pragma once
#include <span>

#include "gpu/tensor/element.hpp"

namespace inflight::tensor {

// A summand. If it is a product, its significand is below 4 instead of 2.
using Term = Number;

// The exact product. The exponents add up, and the significand is not normalised.
Term times(const Number& x, const Number& y);

// How a sum is rounded to an accumulator.
struct Kept {
  int bits;         // of the fraction
  bool to_nearest;  // to nearest even; false: towards zero
};
// f16 is rounded to nearest, other formats towards zero.
Kept kept_of(Element accumulator, int fraction_bits);

// Aligns all terms to the largest exponent, or to `least` if that is larger. Truncates each to
// `fraction_bits`, adds them exactly, and rounds once. Returns the bits of `accumulator`.
// Subnormals are not flushed. There is one NaN, and a zero result is positive.
std::uint64_t block_sum(std::span<const Term> terms, int fraction_bits, int least,
                        Element accumulator, Kept kept);

std::uint64_t nan_of(Element e);

}  // namespace inflight::tensor
