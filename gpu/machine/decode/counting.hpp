// Ops that count what warps do. Instructions that execute equally often share a slot, and so do
// their accesses if the instruction names the space. So a straight run of code costs one op.
#pragma once
#include <cstdint>

namespace inflight::machine {

class Lowering;

// Emits counting ops, one instruction of a function after the other.
class CountingOps {
 public:
  // A basic block begins.
  void begin() { run_ = access_slot_ = none; }
  // Lanes may wait here and reconverge with others.
  void meet() { access_slot_ = none; }
  // Emits the ops that count the instruction `index`, before its own ops. `own_lanes`: the
  // instruction has a guard, which emit() applies to these ops too.
  void emit(Lowering& lo, std::uint32_t index, bool own_lanes);

 private:
  static constexpr std::uint32_t none = ~0u;
  void emit_access(Lowering& lo, std::uint32_t instruction, std::uint32_t own_slot);
  // The open run's index in Code::counted_runs, the slot that counts its accesses, and the first
  // instruction that the slot covers.
  std::uint32_t run_ = none, access_slot_ = none, access_since_ = 0;
};

}  // namespace inflight::machine
