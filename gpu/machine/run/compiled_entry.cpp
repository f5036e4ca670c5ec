// Leads whole warps into another engine's code.
#include "gpu/machine/run/compiled_entry.hpp"

#include <utility>

#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/counts.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {
namespace {

const Op* run_counted(Warp& w, const Op* op, Handler in) {
  ++w.block->counts->sums.host_code_entries;
  w.in_host_code = true;
  const Op* const next = in(w, op);
  w.in_host_code = false;
  return next;
}

}  // namespace

const Op* run_entry(Warp& w, const Op* op) {
  const Code& code = *w.frame->code;
  const Op* const until = std::exchange(w.compiled_until, nullptr);
  if (w.mask == all_lanes && !w.frame->parent) {
    // It may have become ready since the block began.
    if (!w.compiled && w.block->grid->awaited) [[unlikely]] {
      w.compiled = w.block->grid->compiled_now();
      if (w.compiled) w.make_homes();
    }
    if (w.compiled) {
      const auto at = static_cast<std::size_t>(op - code.ops.data());
      const Compiled::Entry& entry = w.compiled->entries[at];
      if (const Handler in = until == op ? entry.resume : entry.enter)
        return w.frame->counts ? run_counted(w, op, in) : in(w, op);
    }
  }
  return code.handler_of(op)(w, op);
}

}  // namespace inflight::machine
