// A function described: its instructions and how control flows between them.
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
  std::vector<Instruction> body;  // one each of ptx::Function::body
  Flow flow;
  // By register: may a multiplication in flight hold it? Empty: the function has none.
  std::vector<bool> held;

  // What the instructions' spans point into.
  std::vector<RegisterUse> registers;
  std::vector<MemoryOperand> memory;
};

// `function` of `module`, which outlive the description.
std::unique_ptr<const Function> describe(const ptx::Module& module, const ptx::Function& function);

}  // namespace inflight::machine
