// cp.async and its groups (PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy").
//
// Both ends are checked when a copy is issued. gpu/async determines when its bytes move.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/mbarriers.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

const Op* finish(Warp& w, const Op* op) {
  w.progressed = true;
  return op + 1;
}

// cp.async: Op::a and imm are the global address, the op's second address is the shared one. Op::b
// is src-size, Op::c is ignore-src.
struct Copy {
  std::uint64_t shared[lanes], global[lanes];
  std::uint32_t dst[lanes], src_bytes[lanes];
  std::uint32_t oversized = 0;  // lanes whose src-size exceeds cp-size
};

// Whether the copy always reads as many bytes as it writes.
bool whole(const Op* op) { return op->b == no_ref && op->c == no_ref; }

// PTX leaves a src-size above cp-size undefined. It counts as cp-size here.
void source_sizes(const Warp& w, const Op* op, std::uint32_t bytes, Copy& c) {
  const std::uint32_t ignored = op->c == no_ref ? 0 : w.predicate(op->c, op->flags & Op::negate_c);
  bool over = false;
  for (int l = 0; l < lanes; ++l) {
    const std::uint32_t asked = op->b == no_ref ? bytes : w.at<std::uint32_t>(op->b)[l];
    c.src_bytes[l] = ignored >> l & 1 ? 0 : std::min(asked, bytes);
    over |= asked > bytes;
  }
  if (!over) [[likely]]
    return;
  each_lane(w.mask & ~ignored, [&](int l) {
    if (w.at<std::uint32_t>(op->b)[l] > bytes) c.oversized |= 1u << l;
  });
}

// The lowest and highest address of the lanes of `mask`, and the bits that are set in any of them.
template <class A>
struct Span {
  A low = static_cast<A>(-1), high = 0, bits = 0;
  Span(std::uint32_t mask, const A* addresses) {
    if (mask == ~0u && rises_evenly(addresses)) {
      low = addresses[0], high = addresses[lanes - 1];
      bits = low | (addresses[1] - low);
      return;
    }
    each_lane(mask, [&](int l) {
      low = std::min(low, addresses[l]);
      high = std::max(high, addresses[l]);
      bits |= addresses[l];
    });
  }

 private:
  static bool rises_evenly(const A* addresses) {
    const A step = addresses[1] - addresses[0];
    A differ = 0;
    for (int l = 1; l < lanes; ++l) differ |= (addresses[l] - addresses[l - 1]) ^ step;
    return differ == 0 && addresses[lanes - 1] >= addresses[0] && step < 1u << 16;
  }
};

// Fast checks for the common case: all lanes are in the block's own shared memory, and in one
// allocation. Both return false if the lanes must be checked one by one.
bool good_destinations(const Warp& w, const Copy& c, std::uint32_t bytes) {
  const Span<std::uint32_t> span(w.mask, c.dst);
  return span.low >= reserved_shared && std::uint64_t{span.high} + bytes <= w.block->shared_end &&
         (span.bits & (bytes - 1)) == 0;
}
bool good_sources(Warp& w, const Op* op, const Copy& c, std::uint32_t bytes) {
  const Span<std::uint64_t> span(w.mask, c.global);
  return (span.bits & (bytes - 1)) == 0 && span.high - span.low < INT32_MAX &&
         resolve_global(w, op, span.low, static_cast<std::uint32_t>(span.high - span.low) + bytes,
                        false);
}

// Checks both ends. Returns false if a fault has ended the kernel.
bool check(Warp& w, const Op* op, std::uint32_t bytes, Copy& c) {
  LanePlaces places;
  BadLanes bad;
  if (!good_destinations(w, c, bytes))
    bad = resolve_lanes(w, op, w.mask, Space::shared, c.shared, bytes, true, places);
  if (bad.lanes) {
    bad_access(w, op, bad.lanes, c.shared, bytes, true, Space::shared, bad.kind);
    return false;
  }
  if (whole(op) && good_sources(w, op, c, bytes)) return true;
  source_sizes(w, op, bytes, c);
  // A lane that reads nothing may have any source address.
  std::uint32_t reads = 0;
  for (int l = 0; l < lanes; ++l) reads |= c.src_bytes[l] ? 1u << l : 0;
  bad = check_source(w, op, w.mask & reads, c.global, c.src_bytes, bytes);
  if (bad.lanes) bad_access(w, op, bad.lanes, c.global, bytes, false, Space::global, bad.kind);
  return !bad.lanes;
}

const Op* run_copy(Warp& w, const Op* op) {
  Copy c;
  second_addresses(w, op, Space::shared, c.shared);
  lane_addresses(w, op, Space::global, c.global);
  for (int l = 0; l < lanes; ++l)
    c.dst[l] = static_cast<std::uint32_t>(c.shared[l]) ^ w.block->window;
  const std::uint32_t bytes = use_of<CopyUse>(op).bytes;
  const SourceWatch watch(w, op);
  if (!check(w, op, bytes, c)) return nullptr;
  async::Issue issue;
  issue.mask = w.mask;
  issue.bytes = bytes;
  issue.dst = c.dst;
  issue.src = c.global;
  issue.src_bytes = whole(op) ? nullptr : c.src_bytes;
  issue.dst_base = w.block->shared;
  issue.tag = w.number(op);
  issue.watch = watch.needed();
  if (c.oversized != 0) [[unlikely]] {
    issue.oversized = c.oversized;
    issue.source_size = w.at<std::uint32_t>(op->b)[std::countr_zero(c.oversized)];
  }
  thread_copies(w).issue(issue);
  return finish(w, op);
}

const Op* run_commit(Warp& w, const Op* op) {
  thread_copies(w).commit(w.mask, w.number(op));
  return finish(w, op);
}
const Op* run_wait_group(Warp& w, const Op* op) {
  const std::uint32_t allowed = use_of<GroupUse>(op).allowed;
  thread_copies(w).wait_group(w.mask, allowed, w.number(op));
  return finish(w, op);
}
const Op* run_wait_all(Warp& w, const Op* op) {
  thread_copies(w).wait_all(w.mask, w.number(op));
  return finish(w, op);
}

const Op* run_arrive(Warp& w, const Op* op) {
  LaneMbarriers m;
  if (const BadLanes bad = resolve_mbarriers(w, op, true, m); bad.lanes)
    return bad_access(w, op, bad.lanes, m.addresses, async::mbarrier::size, true,
                      op->what->memory.front().space, bad.kind);
  async::ArriveIssue issue;
  issue.mask = w.mask;
  issue.mbarrier = m.offsets;
  issue.base = w.block->shared;
  issue.noinc = use_of<MbarrierUse>(op).no_inc;
  issue.tag = w.number(op);
  thread_copies(w).arrive(issue);
  // Threads that already wait may need this arrival. They run again and perform it.
  for (std::uint32_t rest = m.one ? w.mask & -w.mask : w.mask; rest; rest &= rest - 1)
    wake_mbarrier(*w.block, m.offsets[std::countr_zero(rest)]);
  return finish(w, op);
}

// --- decoding ---

bool is_predicate(const Lowering& lo, const ptx::Operand& o) {
  return lo.register_type(o) == Type::pred;
}

bool bind_size(Lowering& lo, const ptx::Operand& o, Op& bound) {
  if (is_predicate(lo, o)) {
    bound.c = lo.predicate(o, bound.flags, Op::negate_c);
    return bound.c != no_ref;
  }
  bound.b = lo.source(o, Type::u32);
  return bound.b != no_ref;
}

// cp.async.{ca,cg}.shared.global [dst], [src], cp-size{, src-size}{, ignore-src}{, cache-policy}
bool lower_copy(Lowering& lo, const Row&) {
  if (!only(lo, {})) return false;
  if (lo.in.space(0) == Space::shared_cluster)
    return lo.refuse("copies into other blocks' shared memory are not supported yet");
  const std::size_t given = lo.operands.size() - lo.in.mods.has(Mod::L2_cache_hint);
  if (given < 3 || given > 5) return lo.refuse("cp.async takes two addresses and a size");
  if (!lo.is_constant(lo.operands[2])) return lo.refuse("cp-size must be a constant");
  const std::int64_t bytes = lo.constant(lo.operands[2]);
  if (bytes != 16 && (lo.in.mods.has(Mod::cg) || (bytes != 4 && bytes != 8)))
    return lo.refuse(fmt::format("{} copies {} bytes", lo.in.name,
                                 lo.in.mods.has(Mod::cg) ? "16" : "4, 8 or 16"));
  Op bound, destination;
  for (std::size_t i = 3; i < given; ++i) {
    const ptx::Operand& o = lo.operands[i];
    const bool all = !is_predicate(lo, o) && lo.is_constant(o) && lo.constant(o) == bytes;
    if (!all && !bind_size(lo, o, bound)) return false;
  }
  if (!lo.address(lo.operands[0], destination) || !lo.address(lo.operands[1], bound)) return false;
  Op& op = lo.emit(run_copy);
  op.d = destination.a;
  op.extra = static_cast<std::uint32_t>(destination.imm);
  if (destination.flags & Op::address_64) op.flags |= Op::second_address_64;
  op.a = bound.a, op.imm = bound.imm, op.b = bound.b, op.c = bound.c;
  op.flags |= bound.flags;
  return true;
}

bool lower_commit(Lowering& lo, const Row&) {
  if (!only(lo, {})) return false;
  lo.emit(run_commit);
  return true;
}
bool lower_wait_all(Lowering& lo, const Row&) {
  if (!only(lo, {})) return false;
  lo.emit(run_wait_all);
  return true;
}
bool lower_wait_group(Lowering& lo, const Row&) {
  if (!only(lo, {})) return false;
  if (lo.operands.size() != 1 || !lo.is_constant(lo.operands[0]))
    return lo.refuse("cp.async.wait_group takes a constant");
  lo.emit(run_wait_group);
  return true;
}

bool lower_arrive(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::noinc})) return false;
  if (lo.operands.size() != 1) return lo.refuse("it takes the address of an mbarrier");
  if (lo.what.memory.empty()) return lo.refuse("an address in brackets is needed");
  const Space space = lo.what.memory.front().space;
  if (space == Space::shared_cluster)
    return lo.refuse("mbarriers of other blocks (.shared::cluster) are not supported yet");
  if (space != Space::generic && space != Space::shared)
    return lo.refuse("mbarriers are in shared memory");
  return lo.address(lo.operands[0], lo.emit(run_arrive));
}

}  // namespace

void async_copy_rows(Rows& rows) {
  add(rows, any_form(Opcode::cp_async, lower_copy));
  add(rows, any_form(Opcode::cp_async_commit_group, lower_commit));
  add(rows, any_form(Opcode::cp_async_wait_group, lower_wait_group));
  add(rows, any_form(Opcode::cp_async_wait_all, lower_wait_all));
  add(rows, any_form(Opcode::cp_async_mbarrier_arrive, lower_arrive));
}

}  // namespace inflight::machine
