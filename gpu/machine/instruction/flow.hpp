// Control flow of a PTX function: basic blocks in the order in which they are laid out.
//
// The order is a weak topological order (Bourdoncle 1993): every block comes after all its
// predecessors except along back edges, and the blocks of a loop are contiguous, its head first. So
// a block that ends a divergent region always lies behind the whole region, which is what lets a
// warp that runs its lowest split first meet again at the nearest common point.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/ptx/module.hpp"

namespace inflight::machine {

struct BasicBlock {
  std::uint32_t first = 0, last = 0;      // instructions [first, last)
  std::vector<std::uint32_t> successors;  // blocks; a fall-through comes last
  std::vector<std::uint32_t> predecessors;
  bool falls_through = false;  // into the last successor
};

struct Flow {
  std::vector<BasicBlock> blocks;       // in the order of the text
  std::vector<std::uint32_t> order;     // layout: reachable blocks only
  std::vector<std::uint32_t> block_of;  // label id → block
};

Flow analyse(const ptx::Function& function);

// Is the operand a list of .branchtargets?
bool is_branch_table(const ptx::Function&, const ptx::Operand&);

}  // namespace inflight::machine
