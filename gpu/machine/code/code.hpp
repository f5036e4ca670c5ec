// A function ready to execute.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/check/events.hpp"
#include "gpu/machine/code/compiled.hpp"
#include "gpu/machine/code/line_buffer.hpp"
#include "gpu/machine/code/op.hpp"
#include "gpu/machine/code/repeated_tests.hpp"
#include "gpu/machine/instruction/function.hpp"
#include "gpu/machine/link/program.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {

// An argument, parameter or result: a byte range in the local memory of a frame.
struct LocalRange {
  std::uint32_t offset, size;
};

struct CallSite {
  Program::FunctionRef callee;  // {none, none}: a builtin, or indirect with the target in Op::a
  const struct Builtin* builtin = nullptr;
  const struct Code* code = nullptr;  // of a direct call; set before the first launch that needs it
  std::vector<LocalRange> arguments, results;  // of the caller's frame
};

// What a function's code does besides executing. A launch pays only for what it needs.
struct CodeForm {
  // The launch's listener is notified of
  bool executed = false;      // each instruction
  bool accessed = false;      // each access to memory
  bool parameters = false;    // and each read of a kernel parameter
  bool synchronised = false;  // fences, barriers, collectives and what lanes wait for
  bool counted = false;       // has ops that count instructions and accesses
  bool clustered = false;     // shared addresses carry the block's rank in its cluster
  bool observed() const { return executed || accessed || synchronised; }
  unsigned number() const {
    return executed + 2u * accessed + 4u * synchronised + 8u * counted + 16u * clustered +
           32u * parameters;
  }
  static constexpr unsigned count = 64;
};

// What counting ops count, each in one of the block's count slots (counting.hpp).
struct CountedRun {
  std::uint32_t slot = 0;
  // One entry for each instruction, numbered as in check::Who and check::Executed.
  std::vector<std::uint32_t> instructions, families;
};
struct CountedAccess {
  std::uint32_t slot = 0, instruction = 0;
  std::uint32_t since = 0;  // the instruction that the slot's op precedes
  check::Space space = check::Space::global;
  check::Access::Kind kind = check::Access::Kind::load;
  std::uint32_t bytes = 0;
};

// Where the values of an access lie that is reported when it is performed.
struct AccessValues {
  std::uint32_t bytes = 0;  // of one element in its register; 0: the values are not reported
  std::uint32_t count = 1;  // elements
  std::uint32_t wrote = 0;  // what it writes: the first element's index in Code::extra
  Ref read = no_ref;        // what a load or atomic returns
  Ref compared = no_ref;    // what a compare-and-swap expects
};

// The Detail of the op's instruction, which must be a T.
template <class T>
const T& use_of(const Op* op) {
  return *op->what->as<T>();
}

// Why an instruction is not supported, and the first line where this reason applies.
struct Refusal {
  std::string what;
  std::uint32_t line = 0;
};

struct Code {
  static constexpr std::uint32_t none = ~0u;
  std::uint64_t id = 0;  // of this code and no other, also of none that is gone
  const Program* program = nullptr;
  Program::FunctionRef ref;
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  const Function* description = nullptr;
  std::vector<Op> ops;                     // ends with an op that cannot fall through
  std::vector<std::uint32_t> block_start;  // by basic block: its first op; none: unreachable
  std::vector<Ref> slots;                  // by register: where its lanes lie
  bool loops = false;                      // it jumps back
  bool makes_mbarriers = false;            // it has an mbarrier.init
  bool launches_dependents = false;        // it has a griddepcontrol.launch_dependents
  bool copies_tensors = false;             // it has a tensor copy
  std::vector<Ref> extra;                  // operand lists; Op::extra is the first one's index
  LineBuffer constants;
  std::uint32_t frame_bytes = 0;       // a warp: registers and scratch
  std::uint32_t local_bytes = 0;       // a thread: .local variables, parameters, call parameters
  std::uint32_t local_alignment = 16;  // of the frame in local memory
  // Its .local variables and parameters: index in ptx::Module::variables, offset in the frame.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> locals;
  bool dynamic_stack = false;                   // it moves the stack pointer: alloca, stackrestore
  std::vector<LocalRange> parameters, returns;  // of a function that is no kernel
  std::vector<CallSite> calls;                  // Op::extra of a call
  std::vector<std::vector<const Op*>> branch_tables;
  std::vector<Refusal> refusals;  // Op::extra of run_unsupported is an index
  // Only if decoded to count:
  std::vector<CountedRun> counted_runs;
  std::vector<CountedAccess> counted_accesses;
  std::uint32_t count_slots = 0;
  std::uint32_t first_number = 0;  // of its instructions, in the program's numbering
  bool reads_workspace = false;    // %envreg1, %envreg2
  std::uint64_t block_values = 0;  // a bit for each row of Base::block that it reads
  mutable RepeatedTests repeated_tests;

  // By instruction: its first own op; none: unreachable. Those before it only count, report, or let
  // others run. An instruction that is merged into another has none, so this is the next one's.
  std::vector<std::uint32_t> own_ops;
  // Where another engine may take over the block: at the first own op of its instructions. Null:
  // the block is unreachable, or computes for ever.
  const Op* entry(std::uint32_t block) const;
  // The handler by which the interpreter executes the op, also if another engine has put its own
  // there. That engine stores its handlers behind the table of these, so they are read before it.
  Handler handler_of(const Op* op) const {
    const Handler run = op->handler();
    const Interpreted* const kept = interpreted.load(std::memory_order_relaxed);
    return kept ? kept->handlers[static_cast<std::size_t>(op - ops.data())] : run;
  }
  // Set once by another engine, perhaps while launches run the code. Null: it has changed no op.
  mutable std::atomic<const Interpreted*> interpreted{nullptr};
  // What it has made, by how the blocks' threads lie in warps; null: nothing yet.
  mutable std::array<std::atomic<const Compiled*>, 4> compiled{};
  // Ops that launches ran without it, likewise.
  mutable std::array<Heat, 4> heat;

  // Only if decoded to report accesses: their values, and by instruction the index there.
  std::vector<AccessValues> values;
  std::vector<std::uint32_t> values_of;

  // Who owns `interpreted` and `compiled`. Set once, and the first to go: it may read the rest.
  mutable std::unique_ptr<OtherEngine> engine;
};

// The values of the access that the op performs and reports.
inline const AccessValues& values_of(const Code& code, const Op* op) {
  return code.values[code.values_of[op->instruction]];
}

}  // namespace inflight::machine
