// The description of a function: its instructions and its control flow.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/machine/instruction/flow.hpp"
#include "gpu/machine/instruction/instruction.hpp"
#include "gpu/machine/instruction/patience.hpp"

namespace inflight::machine {

// A load whose value may be without effect.
struct Drop {
  std::uint32_t load = 0, end = 0;  // the instruction, and the end of its block
  // The later blocks, in layout order, in which registers that depend on it may be used.
  std::vector<std::uint32_t> beyond;
  // If those are too many: registers that may depend on it and are used after the block, where a
  // branch at its end goes to the label, and where it does not. Without such a branch the two are
  // the same.
  std::array<std::vector<std::uint32_t>, 2> live;
};

// A strong load whose value goes to nothing but comparisons.
struct Comparison {
  std::uint32_t load = 0, end = 0;  // the instruction, and the end of its block
  // A register that depends on the value, where more than a computation in the block uses it.
  struct Result {
    std::uint32_t reg = 0, before = 0;  // the instruction that uses it, or `end` for later blocks
  };
  std::vector<Result> results;  // in the order of the uses
};

// The first and last position at which a register holds a value that may still be read. Positions
// follow layout order: an instruction reads at an even position and writes at the next, odd one.
struct Lifetime {
  std::uint32_t begin = ~0u, end = 0;
  bool lives() const { return begin != ~0u; }
  void extend(std::uint32_t position) {
    begin = std::min(begin, position);
    end = std::max(end, position);
  }
};

struct Function {
  const ptx::Module* module = nullptr;
  const ptx::Function* text = nullptr;
  std::vector<Instruction> body;  // one for each of ptx::Function::body
  Flow flow;
  // By register: whether a wgmma in flight may still read or write it. Empty if the function has no
  // wgmma.
  std::vector<bool> held;

  // Storage for the instructions' spans.
  std::vector<RegisterUse> registers, contracted;
  std::vector<MemoryOperand> memory;

  std::vector<Drop> drops;              // in the order of the loads
  std::vector<Comparison> comparisons;  // in the order of the loads
  // By register: several instructions write it. Empty if no Drop has later blocks.
  std::vector<bool> rewritten;

  std::vector<Lifetime> lifetimes;  // by register
  std::uint32_t live_words = 0;     // a thread: the most 32-bit registers live at once
  std::vector<bool> begins_phase;   // by instruction (phases.hpp)
  // By basic block (endless.hpp). No block is in both.
  std::vector<bool> computes_forever, repeats_forever;
};

// Describes `function` of `module`. Both must outlive the description. Throws Unwanted if the
// patience is over before.
std::unique_ptr<const Function> describe(const ptx::Module& module, const ptx::Function& function,
                                         const Patience& patience = {});

}  // namespace inflight::machine
