// st.bulk: fills shared memory with zeros (PTX ISA, "Data Movement and Conversion Instructions:
// st.bulk").
#include <fmt/format.h>

#include <cstring>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

constexpr std::uint64_t unit = 8, most_bytes = 16 << 20;

// One lane's fill. False if a fault has ended the kernel.
bool fill(Warp& w, const Op* op, int lane, Space space, std::uint64_t address,
          std::uint64_t bytes) {
  if (bytes % unit != 0 || bytes > most_bytes) {
    w.fault(
        op, FaultKind::illegal_instruction, 1u << lane,
        fmt::format("fills {} bytes: the size must be a multiple of 8 and at most 16 MiB", bytes));
    return false;
  }
  if (bytes == 0) return true;
  const auto size = static_cast<std::uint32_t>(bytes);
  const bool generic = space == Space::generic;
  const Windows& windows = w.block->grid->memory->windows();
  const std::uint64_t offset = generic ? address - windows.shared : address;
  FaultKind kind = FaultKind::none;
  if (generic && space_of(w, address) != Space::shared) kind = FaultKind::invalid_address_space;
  if (kind == FaultKind::none && address % unit != 0) kind = FaultKind::misaligned_address;
  if (kind == FaultKind::none) kind = shared_fault(*w.block, offset, size, true);
  if (kind != FaultKind::none) {
    std::uint64_t addresses[lanes];
    addresses[lane] = address;
    bad_access(w, op, 1u << lane, addresses, size, true, space, kind);
    return false;
  }
  const Observation* const observation = w.block->grid->observation;
  if (observation) [[unlikely]]
    observation->written_by_builtin(w, op, lane, windows.shared + offset, bytes);
  std::memset(shared_place(*w.block, offset).at(), 0, size);
  return true;
}

// Op::b is the size, in 32 or 64 bits as Op::count says.
const Op* run_fill(Warp& w, const Op* op) {
  const Space space = op->what->text->space();
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, space, addresses);
  bool good = true;
  each_lane(w.mask, [&](int l) {
    const std::uint64_t bytes =
        op->count == 64 ? w.at<std::uint64_t>(op->b)[l] : w.at<std::uint32_t>(op->b)[l];
    good = good && fill(w, op, l, space, addresses[l], bytes);
  });
  if (!good) return nullptr;
  w.progressed = true;
  return op + 1;
}

bool lower_fill(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::weak}) || !lo.on_target(100, "st.bulk")) return false;
  const auto o = lo.operands;
  const bool zero = o.size() == 2 || (o.size() == 3 && lo.is_constant(o[2]) && !lo.constant(o[2]));
  if (!zero) return lo.refuse("it takes an address, a size and the value 0");
  const bool wide = ptx::size_of(lo.register_type(o[1])) == 8;
  const Ref size = lo.source(o[1], wide ? Type::u64 : Type::u32);
  if (size == no_ref) return false;
  Op& op = lo.emit(run_fill);
  op.b = size;
  op.count = wide ? 64 : 32;
  return lo.address(o[0], op);
}

}  // namespace

void zero_rows(Rows& rows) { add(rows, any_form(Opcode::st_bulk, lower_fill)); }

}  // namespace inflight::machine
