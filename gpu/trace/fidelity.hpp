// How many executed instructions give the same result as a GPU: `inflight run --fidelity`.
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

// The counts of one kernel, summed over its launches.
class FidelityTally {
 public:
  using Kind = check::Fidelity::Kind;
  struct Executed {
    std::uint64_t warps = 0, threads = 0;
  };
  // Instructions that are not exact, by kind, text and reason. The report also shows unsupported
  // ones that no thread reached.
  using Key = std::tuple<Kind, std::string, std::string>;
  std::map<Key, Executed> rows;
  Executed exact;

  // The row to which each instruction of a launch counts. Exact instructions have none.
  using Numbers = std::unordered_map<std::uint32_t, Executed*>;
  Numbers numbers_of(const check::Kernel& kernel);

  Executed all() const;
  Executed of(Kind kind) const;
};

std::string_view name_of(check::Fidelity::Kind kind);

}  // namespace inflight::trace
