// Instructions with .aligned, on matrices and register counts, which a whole warp executes
// together.
#pragma once
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Whether a fault ends the kernel because lanes of the warp have ended. PTX does not define such an
// instruction then, and a chip executes it. The fault is raised only when a checker is attached.
bool lanes_have_ended(Warp& w, const Op* op);

// The handler of such an instruction. It runs `body` once all live lanes are at the instruction.
template <Handler body>
const Op* run_whole_warp(Warp& w, const Op* op) {
  if (w.mask != w.alive) return w.park(op, Wait::collective, all_lanes);
  if (w.alive != all_lanes && lanes_have_ended(w, op)) [[unlikely]]
    return nullptr;
  return body(w, op);
}

}  // namespace inflight::machine
