// Counts by the counting ops of a block's warps, for listeners that want sums instead of events.
#pragma once
#include <bit>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/check/listener.hpp"
#include "gpu/machine/code/code.hpp"

namespace inflight::machine {

// The executions of a slot's instructions.
struct Count {
  std::uint64_t warps = 0, missing = 0;  // warp executions; lanes left out
  std::uint64_t in_host_code = 0;        // of the former, by another engine
  void add(std::uint32_t mask) {
    ++warps;
    if (mask != ~0u) missing += static_cast<std::uint64_t>(std::popcount(~mask));
  }
  void take(std::uint32_t mask) {
    --warps;
    missing -= static_cast<std::uint64_t>(std::popcount(~mask));
  }
  std::uint64_t threads() const { return 32 * warps - missing; }
};

// Counts of one Block object, over all blocks that it becomes.
class Counts {
 public:
  // The slots of a function.
  Count* of(const Code& code);
  // An operation on an mbarrier: the arrivals of its threads, if they arrive, and whether it
  // completed the phase.
  void mbarrier(check::MbarrierOp::Op op, std::uint32_t arrivals, bool completed);
  // A fault ended the launch at `instruction`. Lanes of `mask` did not reach the later accesses
  // that were counted with it.
  void stopped(const Code& code, std::uint32_t instruction, std::uint32_t mask);
  void copies(check::Completion completion, std::uint32_t mask, std::uint32_t bytes);
  // Lanes of `mask` accessed `bytes` each through a texture or surface.
  void texels(std::uint32_t instruction, check::Access::Kind kind, std::uint32_t bytes,
              std::uint32_t mask);
  void report(check::Listener& listener, const check::Kernel& kernel) const;
  check::BlockCount sums;

 private:
  struct Stop {
    const Code* code;
    std::uint32_t instruction, mask;
  };
  struct Texels {
    check::Access::Kind kind;
    Count count;
  };
  std::unordered_map<const Code*, std::vector<Count>> slots_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Texels> texels_;  // by instruction and bytes
  std::vector<Stop> stops_;
};

}  // namespace inflight::machine
