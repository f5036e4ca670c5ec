// tensormap.replace and tensormap.cp_fenceproxy (PTX ISA, "Data Movement and Conversion
// Instructions: tensormap.replace", "Parallel Synchronization: tensormap.cp_fenceproxy").
//
// gpu/async defines the fields and their valid values.
#include "gpu/async/tensor_map.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cstring>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

constexpr ModSet fields{
    Mod::global_address, Mod::rank,           Mod::box_dim,  Mod::global_dim,
    Mod::global_stride,  Mod::element_stride, Mod::elemtype, Mod::interleave_layout,
    Mod::swizzle_mode,   Mod::fill_mode};
constexpr std::uint32_t map_bytes = async::tensor_map_bytes;

// The host address of a lane's tensor map; null after a fault.
std::byte* map_at(Warp& w, const Op* op, int lane, Space space, std::uint64_t address,
                  bool writing) {
  const auto bad = [&](FaultKind kind) -> std::byte* {
    std::uint64_t addresses[lanes] = {};
    addresses[lane] = address;
    bad_access(w, op, 1u << lane, addresses, map_bytes, writing, space, kind);
    return nullptr;
  };
  if (address % async::tensor_map_alignment != 0) {
    FaultDetail about;
    about.access = true, about.writes = writing;
    about.space = space;
    about.address = address, about.bytes = map_bytes;
    about.alignment = async::tensor_map_alignment;
    w.fault(op, FaultKind::misaligned_address, 1u << lane,
            fmt::format("the tensor map at 0x{:x} is misaligned: its address must be a multiple of "
                        "{}",
                        address, async::tensor_map_alignment),
            about);
    return nullptr;
  }
  std::byte* const at = space == Space::shared ? resolve_shared(w, address, map_bytes, true)
                        : space == Space::generic
                            ? resolve_generic(w, address, map_bytes, writing)
                            : resolve_global(w, op, address, map_bytes, writing);
  return at ? at : bad(FaultKind::illegal_address);
}

// --- tensormap.replace: Op::b is the value, c its ordinal or no_ref ---

std::uint64_t value_of(const Warp& w, const Op* op, const MapFieldUse& use, int lane) {
  const std::uint64_t value =
      use.type == Type::b64 ? w.at<std::uint64_t>(op->b)[lane] : w.at<std::uint32_t>(op->b)[lane];
  return use.in_sixteenths ? value << 4 : value;
}

const Op* run_replace(Warp& w, const Op* op) {
  const MapFieldUse& use = use_of<MapFieldUse>(op);
  const Space space = op->what->memory.front().space;
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, space, addresses);
  for (std::uint32_t rest = w.mask; rest; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    std::byte* const map = map_at(w, op, l, space, addresses[l], true);
    if (!map) return nullptr;
    const std::uint32_t ordinal = op->c == no_ref ? 0 : w.at<std::uint32_t>(op->c)[l];
    const auto done = async::replace(map, use.field, ordinal, value_of(w, op, use, l));
    FaultDetail about;
    about.tensor_map = true;
    if (!done)
      return w.fault(op, FaultKind::illegal_instruction, 1u << l,
                     fmt::format("cannot replace the field: {} (value {}, ordinal {})",
                                 done.error().sentence, value_of(w, op, use, l), ordinal),
                     about);
  }
  w.progressed = true;
  return op + 1;
}

bool check_form(Lowering& lo, const MapFieldUse& f) {
  if (lo.in.type(0) != Type::b1024 || lo.in.type(1) != f.type)
    return lo.refuse(
        fmt::format("{} needs a .{} value for this field", lo.in.name, spelling(f.type)));
  if (lo.operands.size() != (f.ordinal ? 3u : 2u))
    return lo.refuse(f.ordinal ? "it takes an address, an ordinal and a value"
                               : "it takes an address and a value");
  if (f.ordinal && !lo.is_constant(lo.operands[1]))
    return lo.refuse("the ordinal must be a constant");
  if (f.immediate && !lo.is_constant(lo.operands[1]))
    return lo.refuse("the new value of this field must be a constant");
  return true;
}

bool lower_replace(Lowering& lo, const Row&) {
  // only() refuses fields that sm_90 lacks by name.
  const auto* f = lo.what.as<MapFieldUse>();
  if (!only(lo, fields | ModSet{Mod::tile}) || !f || !check_form(lo, *f)) return false;
  const Ref ordinal = f->ordinal ? lo.source(lo.operands[1], Type::u32) : no_ref;
  const Ref value = lo.source(lo.operands.back(), f->type);
  if (value == no_ref || (f->ordinal && ordinal == no_ref)) return false;
  Op& op = lo.emit(run_replace);
  op.b = value, op.c = ordinal;
  return lo.address(lo.operands[0], op);
}

// --- tensormap.cp_fenceproxy: Op::a and imm are the global address, b is the shared one ---

const Op* run_copy(Warp& w, const Op* op) {
  if (w.mask != w.alive) return w.park(op, Wait::collective, all_lanes);
  if (const Observation* const observation = w.block->grid->observation)
    observation->wait_ended(w, {op, w.frame, w.mask, Wait::collective, all_lanes});
  std::uint64_t to[lanes];
  lane_addresses(w, op, Space::global, to);
  const auto* from = w.at<std::uint32_t>(op->b);
  for (std::uint32_t rest = w.mask; rest; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    const std::byte* const source = map_at(w, op, l, Space::shared, from[l], false);
    std::byte* const target = source ? map_at(w, op, l, Space::global, to[l], true) : nullptr;
    if (!target) return nullptr;
    std::memcpy(target, source, map_bytes);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (const Observation* const observation = w.block->grid->observation)
    observation->fenced(w, op, w.mask);
  w.progressed = true;
  return op + 1;
}

bool lower_copy(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::tensormap_generic, Mod::release, Mod::cta, Mod::cluster, Mod::gpu, Mod::sys}))
    return false;
  if (lo.in.space(0) != Space::global || lo.in.space(1) != Space::shared_cta)
    return lo.refuse("tensormap.cp_fenceproxy copies .global.shared::cta");
  if (lo.operands.size() != 3 || !lo.is_constant(lo.operands[2]) ||
      lo.constant(lo.operands[2]) != map_bytes)
    return lo.refuse("it takes two addresses and the size 128");
  const Ref from = lo.address_lanes(lo.operands[1], ptx::Space::shared);
  if (from == no_ref) return false;
  Op& op = lo.emit(run_copy);
  op.b = from;
  return lo.address(lo.operands[0], op);
}

}  // namespace

void tensor_map_rows(Rows& rows) {
  add(rows, any_form(Opcode::tensormap_replace, lower_replace));
  add(rows, any_form(Opcode::tensormap_cp_fenceproxy, lower_copy));
}

}  // namespace inflight::machine
