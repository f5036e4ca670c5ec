// What of a kernel becomes host code, and where it can be entered.
//
// The host code runs whole warps only: all 32 lanes. It keeps a register whose lanes share a value,
// or have values in equal steps, in a home: the values of lane 0 and, if the halves differ, of lane
// 16. All others are in the frame, as in the interpreter. At an entry each home is filled from the
// frame and compared with all lanes, so nothing but the execution of host code needs the shapes to
// hold.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/compile/bits.hpp"
#include "gpu/machine/compile/forms.hpp"
#include "gpu/machine/instruction/patience.hpp"
#include "gpu/machine/shapes/shapes.hpp"

namespace inflight::machine::compile {

struct Place {
  enum class Do : std::uint8_t {
    call,    // its handler
    form,    // `form`
    jump,    // a run_jump
    branch,  // a run_branch
    phase,   // a run_phase
  };
  Do what = Do::call;
  const Form* form = nullptr;
  bool leader = false;  // control may come from elsewhere than the op before
  bool entry = false;   // interpreted warps may enter here
  bool last = false;    // the last op of its instruction that is its own
  bool parks = false;   // a warp often ends its turn here
  bool ends = false;    // the next op is not its successor
  bool masked = false;  // it is in a region
  bool counts = false;  // it only counts, before its instruction's own ops
};

// What follows a branch at which lanes may diverge, up to where all of them are together again: ops
// (head, join) without loops, waits and ends. Splits that run from there in the interpreter's order
// execute each op once, with all lanes that come to it, so host code can do the same with masks.
struct Region {
  std::uint32_t head = 0, join = 0;
  std::vector<std::uint32_t> labels;    // ops in it at which jumps arrive, and the join, in order
  std::vector<std::uint32_t> branches;  // in order; the head is the first
  std::int32_t most_cost = 0;           // of its jumps, and of what else takes from the budget
  bool has_phases = false;              // a phase may begin in it, where a warp may end its turn

  std::uint32_t label(std::uint32_t op) const;   // its index
  std::uint32_t branch(std::uint32_t op) const;  // likewise
};

struct Places {
  // `whole`: with all entries, and however few ops are covered. Throws Unwanted.
  Places(const Code& code, BlockRows rows, bool whole, const Patience& patience = {});

  const Code& code;
  const BlockRows rows;
  std::string why_not;              // empty: it can be compiled
  std::vector<Place> ops;           // by op
  std::vector<Shape> shapes;        // by register: what host code relies on
  std::vector<std::uint32_t> home;  // by register: the home's index; Code::none: in the frame
  std::uint32_t homes = 0;
  Bits live;   // by op: registers that it or a later op may read
  Bits dirty;  // by op: registers whose home may be newer than the frame
  std::vector<Region> regions;
  std::vector<std::uint32_t> region_of;  // by op: the region of which it is the head; Code::none
  // The same as live and dirty where lanes execute under masks: for all lanes, wherever they are.
  Bits masked_live, masked_dirty;
  // By op: registers that it writes while others in a region still have lanes of them to read.
  Bits kept;
  std::uint32_t covered = 0, handled = 0;  // ops
  // The share of covered ops, where a loop's count for more.
  double share = 0;
  std::vector<std::uint32_t> weights;  // by op
  // By register: a predicate that is the same in all lanes, or changes once from the first to the
  // last.
  std::vector<bool> ordered;

  unsigned width(std::uint32_t reg) const;  // bytes; 0: a predicate
  bool in_home(std::uint32_t reg) const { return home[reg] != Code::none; }
  bool is_uniform_predicate(std::uint32_t reg) const {
    return width(reg) == 0 && shapes[reg].is_uniform();
  }
  // The op's instruction; one that does nothing, for an op that belongs to none.
  const Instruction& instruction(std::uint32_t op) const;
  // The op may execute for fewer lanes than the warp has.
  bool guarded(std::uint32_t op) const;
  // Whether it is live before the op or before one that may follow.
  bool is_live_near(std::uint32_t op, std::uint32_t reg) const;
  std::uint32_t target(std::uint32_t op) const {
    return static_cast<std::uint32_t>(code.ops[op].target - code.ops.data());
  }

 private:
  void find_ops();
  void find_leaders();
  void find_shapes();
  void find_liveness(const Patience& patience);
  void find_regions();
  bool find_region(std::uint32_t head, Region& region) const;
  bool may_be_masked(std::uint32_t op) const;
  void find_masked_liveness();
  void find_dirty(const Patience& patience);
  void find_masked_dirty();
  void weigh();
  void drop_short_entries();
  bool may_diverge(std::uint32_t op) const;
  template <class Each>
  void each_successor(std::uint32_t op, Each each) const;
};

}  // namespace inflight::machine::compile
