// Where the lanes of a warp may be apart: some execute an instruction while others, which will
// execute more than the end of the kernel, are elsewhere.
//
// Lanes that separate at a branch are together again at its nearest postdominator that gathers
// them. A point gathers lanes if the scheduler runs all that are before it first (Warp::converge):
// it is laid out behind them all, control enters it by jumps, and none of them waits on the way. Or
// it lies behind a barrier of the whole block, for which all of them must arrive.
//
// It does not hold behind a turn in which a split went first that was not the lowest
// (Warp::next_fair), nor if turns count instructions.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/machine/instruction/effort.hpp"
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// The operands of a barrier or collective by which it sorts its lanes: its number and count, or its
// member mask. Those whose operands are equal leave it together.
std::span<const ptx::Operand> sorting_operands(const ptx::Function& function,
                                               const Instruction& in);

class Regions {
 public:
  explicit Regions(const Function& function);

  // A stretch of instructions that lanes execute together, once they began it together: a basic
  // block, or the part of one that ends where lanes may separate, or behind a barrier of the whole
  // block. Nodes are in the order of the layout.
  struct Node {
    std::uint32_t first = 0, last = 0;      // instructions [first, last)
    std::vector<std::uint32_t> successors;  // without those that only end
    std::vector<std::uint32_t> predecessors;
    bool by_jumps = true;        // each entry passes Warp::jump
    bool after_barrier = false;  // it begins behind a barrier of the whole block
    bool waits = false;          // lanes may wait in it
    bool has_barrier = false;    // or call a function, which may have one
    bool only_ends = false;      // its lanes do nothing more than end
    bool may_end = false;        // or some of them, behind it
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  // The first node of a basic block that can be reached.
  std::uint32_t first_node(std::uint32_t block) const { return first_node_[block]; }
  bool apart(std::uint32_t node) const { return apart_[node]; }

  // Lanes may separate at the end of the node. `waits`: some may wait there meanwhile. Returns
  // whether that is new.
  bool separate(std::uint32_t node, bool waits);
  // Lanes may be apart everywhere, since finding out more would take too long.
  bool gave_up() const { return gave_up_; }

 private:
  void make_nodes();
  void add_block(std::uint32_t block);
  void link();
  void find_ends();
  void find_postdominators();
  void mark(std::uint32_t node, bool waits);
  bool gathers(std::uint32_t at, std::uint32_t from, bool waits) const;
  bool grow(std::vector<std::uint32_t>& open, std::uint32_t stop);
  bool is_whole_barrier(const Instruction& in) const;
  void give_up();

  const Function& f_;
  Effort effort_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> first_node_;     // by block
  std::vector<std::uint32_t> postdominator_;  // by node: the nearest; none_: no single one
  std::vector<bool> apart_, inside_;          // by node; inside_: of the region being found
  std::vector<std::uint32_t> region_;
  std::vector<std::uint8_t> separated_;  // by node
  std::vector<bool> counted_ids_;        // barriers that threads may pass without waiting for all
  bool trusts_barriers_ = true;
  bool gave_up_ = false;
};

}  // namespace inflight::machine
