// How much of what kernels executed gave what a chip gives: `inflight run --fidelity`.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "gpu/check/events.hpp"

namespace inflight::trace {

// Of one kernel, over its launches.
class FidelityTally {
 public:
  using Kind = check::Fidelity::Kind;
  struct Executed {
    std::uint64_t warps = 0, threads = 0;
  };
  // Instructions that are not exact, by their kind, text and reason; those not supported also where
  // no thread reached them.
  using Key = std::tuple<Kind, std::string, std::string>;
  std::map<Key, Executed> rows;
  Executed exact;

  // Which row each instruction of a launch counts for; those that are exact have none.
  using Numbers = std::unordered_map<std::uint32_t, Executed*>;
  Numbers numbers_of(const check::Kernel& kernel);

  Executed all() const;
  Executed of(Kind kind) const;
};

std::string_view name_of(check::Fidelity::Kind kind);

}  // namespace inflight::trace
