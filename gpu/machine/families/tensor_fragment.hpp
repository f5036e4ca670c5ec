// Which lane of a warp holds which elements of a matrix (PTX ISA, "Matrix Fragments for mma").
//
// Every form follows one rule. The lines of A (rows) and of B (columns) form blocks of 8 lines of 4
// words. A register holds one block, of which lane T has word T%4 of line T/4. Accumulators form
// blocks of 8 x 8, of which lane T has columns 2(T%4) and 2(T%4)+1 of row T/4.
#pragma once
#include <vector>

#include "gpu/machine/instruction/instruction.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

struct Fragment {
  tensor::Element element = tensor::Element::f16;
  int lines = 0;       // rows, or columns of B
  int width = 0;       // blocks side by side
  int tall = 1;        // blocks below each other with adjacent registers: 2 or 1 (always 1 for B)
  int copies = 1;      // registers of wmma that hold the same values
  bool pairs = false;  // accumulators: a lane has two columns of each block
  int word_bytes() const { return element == tensor::Element::f64 ? 8 : 4; }
  int registers_a_block() const { return pairs && element != tensor::Element::f16 ? 2 : 1; }
  int registers() const { return lines / 8 * width * registers_a_block(); }
  // The index of a block's first register.
  int index(int block, int beside) const {
    const int together = tall - 1;  // one bit: a shift replaces a division in this hot function
    const int before = (block >> together) * width + beside;
    return ((before << together) + (block & together)) * registers_a_block();
  }
  std::size_t bytes() const {
    return static_cast<std::size_t>(lines * width * (pairs ? 8 : 4)) *
           static_cast<std::size_t>(pairs ? tensor::format(element).bits / 8 : word_bytes());
  }
};

Fragment fragment_of(const TensorUse& use, TensorUse::Of part);
Fragment accumulator_of(const TensorUse& use, tensor::Element element);

// Copy between registers and a matrix in gpu/tensor's layout: lines of A and B packed, accumulators
// by columns. `spread` writes only active lanes.
void gather(const Warp& w, const Ref* registers, const Fragment& fragment, void* out);
void spread(Warp& w, const Ref* registers, const Fragment& fragment, const void* from);

// The same for the usual product, m16n8k16 and its like, whose shapes the compiler knows. Its
// registers are d's, a's, b's and c's.
bool is_usual(const TensorUse& use);
void gather_usual(const Warp& w, const TensorUse& use, const Ref* registers, void* a, void* b,
                  void* c);
void spread_usual(Warp& w, const TensorUse& use, const Ref* registers, const void* d);

// Binds an operand's registers, `{a, b}` or a single one, and appends them. False if refused.
bool bind_fragment(Lowering& lo, std::size_t operand, const Fragment& fragment, bool written,
                   std::vector<Ref>& refs);

}  // namespace inflight::machine
