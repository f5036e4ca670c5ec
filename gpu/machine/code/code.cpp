// Finds where another engine may enter a basic block.
#include "gpu/machine/code/code.hpp"

namespace inflight::machine {

const Op* Code::entry(std::uint32_t block) const {
  if (block_start[block] == none || description->computes_forever[block]) return nullptr;
  const BasicBlock& b = description->flow.blocks[block];
  if (b.first == b.last && !b.successors.empty()) return nullptr;  // it has no ops
  for (std::uint32_t i = b.first; i < b.last; ++i)
    if (ops[own_ops[i]].instruction == i) return &ops[own_ops[i]];
  return &ops[block_start[block]];
}

}  // namespace inflight::machine
