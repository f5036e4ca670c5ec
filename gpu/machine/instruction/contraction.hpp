// Products that the assembler joins with a sum to one instruction, which rounds once.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// An add, sub or mul without a rounding modifier may be contracted (PTX ISA 9.7.3, "mul"). Finds
// the sums and products that ptxas 13.0 contracts for sm_80, sm_90 and sm_100, as seen in its
// machine code. Sets Instruction::detail of each such sum to a Contraction, and its reads. Sets
// Instruction::contracted of each product that nothing else reads.
//
// A product is joined if every use of it is a sum of its type in the same stretch of code. The sum
// has the same .ftz and another first or second operand. Between them may be copies and negations.
// If both operands of a sum are such products, the one with fewer uses is joined, or else the
// first. The other stays a product, and is not joined with later sums.
// Not followed: loops that ptxas unrolls, and products whose factors change before the sum.
void find_contractions(Function& function);

}  // namespace inflight::machine
