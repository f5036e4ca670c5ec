// Ops that count what warps do. Instructions that execute equally often share a slot, and so do
// their accesses where the instruction names the space; so a straight run of code costs one op.
#pragma once
#include <cstdint>

namespace inflight::machine {

class Lowering;

// Emits them, from instruction to instruction of a function.
class CountingOps {
 public:
  // A basic block begins.
  void begin() { run_ = access_slot_ = none; }
  // Lanes may wait here and meet others.
  void meet() { access_slot_ = none; }
  // Emits what counts the instruction `index`, before its own ops. `own_lanes`: emit() guards ops
  // as it is.
  void emit(Lowering& lo, std::uint32_t index, bool own_lanes);

 private:
  static constexpr std::uint32_t none = ~0u;
  void emit_access(Lowering& lo, std::uint32_t instruction, std::uint32_t own_slot);
  // Of the lanes that go straight on: in Code::counted_runs, and what counts their accesses.
  std::uint32_t run_ = none, access_slot_ = none, access_since_ = 0;
};

}  // namespace inflight::machine
