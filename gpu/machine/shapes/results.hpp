// The shape of an instruction's results, from those of its operands.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/machine/shapes/shapes.hpp"

namespace inflight::machine {

class Results {
 public:
  // `shapes`: by register, and may change between calls.
  Results(const Function& function, BlockRows rows, const std::vector<Shape>& shapes)
      : f_(function), rows_(rows), shapes_(shapes) {}

  struct Result {
    Shape shape;
    bool checked = false;  // Shapes::checked
  };
  // The same for each register that it writes.
  Result of(const Instruction& in) const;
  // The value of an operand as a number of this type.
  Shape operand(const ptx::Operand& o, ptx::Type type) const;
  // The address of a memory operand.
  Shape address(const MemoryOperand& m) const;
  // Whether each lane's result depends on nothing that changes while the block runs, besides
  // registers that it reads.
  bool is_constant(const Instruction& in) const;

 private:
  Result compute(const Instruction& in) const;
  Result multiply(const Instruction& in) const;
  Result compare(const Instruction& in) const;
  Result convert(const Instruction& in) const;
  Shape logic(const Instruction& in) const;
  Shape all_alike(const Instruction& in) const;
  Shape any_operand(const ptx::Operand& o) const;
  Shape load(const Instruction& in) const;
  Shape together(const Instruction& in) const;
  Shape test(const Instruction& in) const;
  Shape special(ptx::Special special) const;
  bool reads_parameter(const MemoryOperand& m) const;
  bool fits(const Instruction& in, unsigned bits) const;

  const Function& f_;
  const BlockRows rows_;
  const std::vector<Shape>& shapes_;
};

}  // namespace inflight::machine
