// Control flow of a PTX function: basic blocks in layout order.
//
// The layout is a weak topological order (Bourdoncle 1993): every block comes after all its
// predecessors except along back edges, and the blocks of a loop are contiguous, its head first. So
// the block at which a divergent region reconverges lies after the whole region. A warp that runs
// its lowest split first therefore reconverges at the nearest common point.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/ptx/module.hpp"

namespace inflight::machine {

struct BasicBlock {
  std::uint32_t first = 0, last = 0;      // instructions [first, last)
  std::vector<std::uint32_t> successors;  // blocks; a fall-through comes last
  std::vector<std::uint32_t> predecessors;
  bool falls_through = false;  // to the last successor
};

struct Flow {
  // In source order. Behind them, a block without instructions for each list of labels that several
  // jumps use: it succeeds those jumps, and the labels' blocks succeed it. So there are no more
  // edges than jumps and labels.
  std::vector<BasicBlock> blocks;
  std::vector<std::uint32_t> order;     // layout order, reachable blocks only
  std::vector<std::uint32_t> block_of;  // label id → block
};

Flow analyse(const ptx::Function& function);

// Whether the operand is a .branchtargets list.
bool is_branch_table(const ptx::Function&, const ptx::Operand&);

}  // namespace inflight::machine
