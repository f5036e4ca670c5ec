// The fault of whole-warp instructions in a warp with ended lanes.
#include "gpu/machine/families/whole_warp.hpp"

#include <fmt/format.h>

#include <bit>

#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {

bool lanes_have_ended(Warp& w, const Op* op) {
  const Observation* const observation = w.block->grid->observation;
  if (!observation || !observation->wants(check::Topic::faults)) return false;
  const std::uint32_t threads = w.block->threads - w.index * lanes;
  const std::uint32_t begun = threads >= lanes ? all_lanes : (1u << threads) - 1;
  const int missing = std::popcount(begun & ~w.alive);
  if (missing == 0) return false;
  w.fault(op, FaultKind::illegal_instruction, w.mask,
          fmt::format("all lanes of the warp must execute it together, but {} of them {} ended",
                      missing, missing == 1 ? "has" : "have"));
  return true;
}

}  // namespace inflight::machine
