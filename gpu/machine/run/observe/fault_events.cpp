// Events of faults: the kind of mistake and the memory concerned.
#include "gpu/machine/instruction/instruction.hpp"
#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/link/allocation_events.hpp"
#include "gpu/machine/report/report.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/observe/events.hpp"

namespace inflight::machine {
namespace {

using Kind = check::Fault::Kind;
using ptx::Space;

// The kind of fault of an instruction with invalid operands.
Kind kind_by_family(const Warp& w, const Op* op) {
  const auto& body = w.frame->code->description->body;
  if (op->instruction >= body.size()) return Kind::other;
  const Instruction& what = body[op->instruction];
  const bool of_clusters = what.opcode == ptx::Opcode::clusterlaunchcontrol_try_cancel;
  return what.as<RegisterCountUse>() || of_clusters ? Kind::barrier : mistake_of(what.family);
}

constexpr std::string_view unallocated = "unallocated_columns_access",
                           out_of_bounds = "access_out_of_physical_bounds",
                           not_aligned = "invalid_datapath_alignment";

Kind kind_of(const Warp& w, const Op* op, FaultKind kind, const FaultDetail& about) {
  switch (kind) {
    case FaultKind::misaligned_address:
      return Kind::misaligned;
    case FaultKind::illegal_address:
      return about.tensor_map ? Kind::tensor_map : Kind::outside;
    case FaultKind::invalid_address_space:
      return Kind::address_space;
    case FaultKind::launch_failure:
      return Kind::peer;
    case FaultKind::illegal_instruction:
      if (about.tensor_check == unallocated || about.tensor_check == out_of_bounds)
        return Kind::outside;
      if (about.tensor_check == not_aligned) return Kind::misaligned;
      if (about.tensor_map) return Kind::tensor_map;
      return about.access ? Kind::outside : kind_by_family(w, op);
    case FaultKind::refused:
      return Kind::unsupported;
    default:
      return Kind::other;
  }
}

// The whole memory of a space that a thread, block or kernel has.
check::Allocation whole(const Warp& w, check::Space space) {
  check::Allocation all;
  if (space == check::Space::local) {
    all.bytes = local_bytes(w);
  } else if (space == check::Space::param) {
    all.bytes = w.block->grid->launch->kernel->parameter_bytes;
  } else {
    all.address = reserved_shared;
    all.bytes = w.block->shared_end - reserved_shared;
  }
  return all;
}

// Does the fault concern a multicast object? Then allocations near its addresses are unrelated.
bool of_multicast(const Warp& w, const Op* op, std::uint64_t address) {
  const auto& body = w.frame->code->function->body;
  return (op->instruction < body.size() && family_of(body[op->instruction]) == Family::multimem) ||
         w.block->grid->memory->multicasts().contains(address);
}

}  // namespace

void LaunchEvents::faulted(const Warp& w, const Op* op, FaultKind kind, std::uint32_t mask,
                           std::string_view sentence, const FaultDetail& about) const {
  if (!wants(check::Topic::faults)) return;
  check::Fault event;
  event.who = who(w, mask, op);
  event.kind = kind_of(w, op, kind, about);
  event.name = headline(kind);
  event.sentence = sentence;
  event.rule = about.rule;
  event.ends = about.ends;
  event.unallocated = about.tensor_check == unallocated;
  event.access = about.access, event.writes = about.writes;
  event.bytes = about.bytes, event.alignment = about.alignment;
  event.address = about.address;
  std::optional<Allocation> found;
  std::string host_place;
  if (about.access) {
    const Windows& at = grid_.memory->windows();
    const Space space = about.space == Space::generic ? space_of(w, about.address) : about.space;
    event.space = check_space(space);
    if (about.space == Space::generic) {
      if (event.space == check::Space::shared) event.address -= at.shared;
      if (event.space == check::Space::local) event.address -= at.local;
      if (event.space == check::Space::param) event.address -= at.param;
    }
    if (event.space == check::Space::shared) {
      event.rank = static_cast<std::uint16_t>(event.address >> rank_shift);
      event.address &= offset_mask;
    }
    if (event.space != check::Space::global && event.space != check::Space::constant) {
      event.nearest = whole(w, event.space);
    } else if (of_multicast(w, op, event.address)) {
    } else if (host_place = grid_.memory->host_place(event.address); !host_place.empty()) {
      event.host_place = host_place;
    } else if ((found = grid_.memory->nearest(event.address))) {
      event.nearest.step =
          found->live ? check::Allocation::Step::made : check::Allocation::Step::released;
      event.nearest.kind = event_kind(found->kind);
      event.nearest.device = found->device;
      event.nearest.address = found->base, event.nearest.bytes = found->size;
      event.nearest.name = found->name;
    }
  }
  listener().faulted(event);
}

}  // namespace inflight::machine
