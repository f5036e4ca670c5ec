// A barrier of a block at which threads wait for others that have left it behind for good.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "gpu/check/detect/waiting/polling.hpp"

namespace inflight::check {

struct LeftBehind {
  Wait waits;                 // of those at the barrier
  std::uint32_t waiting = 0;  // their number
  Who gone;                   // of those that cannot come back to it
  std::uint32_t missing = 0;  // their number
  std::optional<Who> last;    // where these arrived at the barrier before; empty: nowhere
};

// Finds threads of a block that no path leads back to a barrier at which others of it wait.
std::optional<LeftBehind> find_left_behind(std::span<const Stuck::Threads> threads,
                                           const Polling::StateOf& state_of);

}  // namespace inflight::check
