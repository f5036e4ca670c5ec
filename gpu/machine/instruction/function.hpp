// The description of a function: its instructions and its control flow.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/machine/instruction/flow.hpp"
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

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
};

// Describes `function` of `module`. Both must outlive the description.
std::unique_ptr<const Function> describe(const ptx::Module& module, const ptx::Function& function);

}  // namespace inflight::machine
