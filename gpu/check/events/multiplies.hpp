// Warpgroup multiplications (wgmma) in flight, and the registers that they use.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/check/events/kernel.hpp"

namespace inflight::check {

// A run of bytes in its block's shared memory that a multiplication reads.
struct MultiplyRun {
  std::uint32_t address = 0, bytes = 0;  // shared offset, size
};

// One warp's part of a wgmma.mma_async: a quarter of the rows of A, and all of B.
struct MultiplyIssued {
  Who who;
  std::uint64_t id = 0;  // number in the warpgroup, from 0, shared by the parts of its four warps
  // A register that it reads or writes and that another instruction has written since the warp's
  // last wgmma.fence, and that instruction. Empty if there is none. `nothing` as the instruction:
  // it is the warp's first multiplication, and no fence came before.
  std::string_view unfenced;
  std::uint32_t unfenced_by = nothing;

  // Calls f(const MultiplyRun&) for every run that it reads, through the async proxy.
  template <class F>
  void for_each_run(F f) const {
    walk(*this, &f, [](void* to, const MultiplyRun& run) { (*static_cast<F*>(to))(run); });
  }
  using RunHook = void (*)(void* to, const MultiplyRun&);
  void (*walk)(const MultiplyIssued&, void* to, RunHook) = nullptr;
  const void* context = nullptr;
};

// The warp commits its multiplications since its last commit as a group.
struct MultiplyCommitted {
  Who who;
};

// The warp knows that multiplications before `complete` are complete, its peers' parts too.
struct MultiplyWaited {
  Who who;
  std::uint32_t allowed = 0;   // groups that may be incomplete
  std::uint64_t complete = 0;  // MultiplyIssued::id of the oldest that may be in flight
};

// An instruction accesses a register of a multiplication that may be in flight.
struct RegisterTouched {
  Who who;
  std::string_view name;
  bool written = false;               // else read
  bool accumulator = false;           // else a fragment of A
  std::uint64_t multiply = 0;         // MultiplyIssued::id
  std::uint32_t issued_at = nothing;  // the instruction that issued it
  bool by_multiply = false;           // the instruction is a multiplication too
};

}  // namespace inflight::check
