// Leads whole warps into another engine's code.
#include "gpu/machine/run/compiled_entry.hpp"

#include <utility>

#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

const Op* run_entry(Warp& w, const Op* op) {
  const Code& code = *w.frame->code;
  const Op* const until = std::exchange(w.compiled_until, nullptr);
  if (w.compiled && w.mask == all_lanes && !w.frame->parent) {
    const Compiled::Entry& at = w.compiled->entries[static_cast<std::size_t>(op - code.ops.data())];
    if (const Handler in = until == op ? at.resume : at.enter) return in(w, op);
  }
  return code.handler_of(op)(w, op);
}

}  // namespace inflight::machine
