// Emits the events of allocations, waits and fences of tensor memory.
#include "gpu/machine/run/observe/tensor_memory_events.hpp"

#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {

bool observes_tensor_memory(const Warp& w) {
  const Observation* const o = w.block->grid->observation;
  return o && o->wants(check::Topic::tensor_memory);
}

void report_tensor_allocation(const Warp& w, const Op* op, check::TensorAllocation::Step step,
                              std::uint32_t group, std::uint32_t first, std::uint32_t columns) {
  if (!observes_tensor_memory(w)) return;
  const Observation& o = *w.block->grid->observation;
  o.listener().tensor_allocated({o.who(w, w.mask, op), step, static_cast<std::uint8_t>(group),
                                 static_cast<std::uint16_t>(w.block->rank), first, columns});
}

void report_unallocated(const Warp& w, const Op* op, const Block& block, std::uint32_t first,
                        std::uint32_t columns) {
  if (!observes_tensor_memory(w)) return;
  const Observation& o = *w.block->grid->observation;
  o.listener().tensor_allocated({o.who(w, w.mask, op), check::TensorAllocation::Step::missed, 1,
                                 static_cast<std::uint16_t>(block.rank), first, columns});
}

void report_tensor_step(const Warp& w, const Op* op, check::TensorStep::What what) {
  if (!observes_tensor_memory(w)) return;
  const Observation& o = *w.block->grid->observation;
  o.listener().tensor_stepped({o.who(w, w.mask, op), what});
}

const Op* report_load_used(Warp& w, const Op* op) {
  const std::uint32_t mask =
      op->guard == no_ref ? w.mask : w.mask & w.predicate(op->guard, op->flags & Op::guard_negated);
  if (!mask || !observes_tensor_memory(w)) return op + 1;
  const Observation& o = *w.block->grid->observation;
  o.listener().tensor_stepped({o.who(w, mask, op), check::TensorStep::What::used_load,
                               w.frame->code->first_number + static_cast<std::uint32_t>(op->imm)});
  return op + 1;
}

}  // namespace inflight::machine
