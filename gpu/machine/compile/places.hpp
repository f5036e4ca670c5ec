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
  bool counts = false;  // it only counts, before its instruction's own ops
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
  void find_dirty(const Patience& patience);
  void weigh();
  void drop_short_entries();
  bool may_diverge(std::uint32_t op) const;
  template <class Each>
  void each_successor(std::uint32_t op, Each each) const;
};

}  // namespace inflight::machine::compile
