// Multiplications of warpgroups (wgmma) in flight, and the registers that they hold.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/check/events/kernel.hpp"

namespace inflight::check {

// Bytes of its block's shared memory that a multiplication reads.
struct MultiplyRun {
  std::uint32_t address = 0, bytes = 0;  // a shared offset
};

// A warp's part of a wgmma.mma_async: a quarter of the rows of A, and all of B.
struct MultiplyIssued {
  Who who;
  std::uint64_t id =
      0;  // counts the warpgroup's, from 0: the parts of its four warps have the same
  // A register that it reads or writes, which another instruction has written since the warp's last
  // wgmma.fence; and that instruction. Empty: there is none.
  std::string_view unfenced;
  std::uint32_t unfenced_by = nothing;

  // Calls f(const MultiplyRun&) for all that it reads, through the async proxy.
  template <class F>
  void for_each_run(F f) const {
    walk(*this, &f, [](void* to, const MultiplyRun& run) { (*static_cast<F*>(to))(run); });
  }
  using RunHook = void (*)(void* to, const MultiplyRun&);
  void (*walk)(const MultiplyIssued&, void* to, RunHook) = nullptr;
  const void* context = nullptr;
};

// The warp's multiplications since its last commit are a group.
struct MultiplyCommitted {
  Who who;
};

// The warp knows that those before `complete` are complete, as are its peers' parts of them.
struct MultiplyWaited {
  Who who;
  std::uint32_t allowed = 0;   // groups that need not be
  std::uint64_t complete = 0;  // MultiplyIssued::id of the oldest that may be in flight
};

// An instruction reads or writes a register of a multiplication that may be in flight.
struct RegisterTouched {
  Who who;
  std::string_view name;
  bool written = false;               // or read
  bool accumulator = false;           // or a fragment of A
  std::uint64_t multiply = 0;         // MultiplyIssued::id
  std::uint32_t issued_at = nothing;  // the instruction that issued it
};

}  // namespace inflight::check
