// What the value of a strong load decides, with it and with other values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/check/events/memory.hpp"
#include "gpu/machine/instruction/function.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Made when the load has been performed. Executes the rest of the basic block on a copy of the
// registers. For loads with MemoryOperand::decides.
class LoadDecision final : public check::Decision {
 public:
  LoadDecision(Warp& w, const Op* load, std::uint32_t bytes);  // bytes of a lane's value
  check::Mask alike(std::uint64_t value) const override;

 private:
  using Result = std::vector<std::byte>;  // one of Comparison::results, of all lanes
  std::vector<Result> results(const std::uint64_t* value) const;

  Warp& w_;
  const Op* load_;
  std::uint32_t bytes_;
  const Function& f_;
  const Comparison& comparison_;
  mutable std::vector<Result> read_;  // with the value that was read; empty: not computed yet
  mutable std::uint64_t value_ = 0;   // the last one asked for
  mutable std::uint32_t alike_ = 0;   // its answer
  mutable bool asked_ = false;
};

}  // namespace inflight::machine
