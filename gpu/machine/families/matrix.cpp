// ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16-bit elements between shared memory and the
// registers of a warp (PTX ISA, "Warp-level Matrix Instructions: ldmatrix, stmatrix, movmatrix").
//
// Of each matrix, lane T holds row T/4, columns 2(T%4) and 2(T%4)+1, or the same of its transpose.
// Lane 8i+r gives the address of the 16 bytes of row r of matrix i. The whole warp takes part:
// diverged lanes wait for each other first.
#include <fmt/format.h>

#include <cstring>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/families/whole_warp.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/undefined_registers.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

constexpr int side = 8, lanes_a_row = lanes / side;
constexpr std::uint32_t row_bytes = side * sizeof(std::uint16_t);

struct Tile {
  std::uint16_t at[side][side];
  std::uint16_t& element(int lane, int half, bool transposed) {
    const int row = lane / lanes_a_row, column = 2 * (lane % lanes_a_row) + half;
    return transposed ? at[column][row] : at[row][column];
  }
};

void to_registers(const Warp& w, Tile& tile, bool transposed, std::uint32_t* to) {
  for (int l = 0; l < lanes; ++l)
    if (w.mask >> l & 1)
      to[l] = tile.element(l, 0, transposed) |
              static_cast<std::uint32_t>(tile.element(l, 1, transposed)) << 16;
}

void from_registers(const std::uint32_t* from, bool transposed, Tile& tile) {
  for (int l = 0; l < lanes; ++l)
    for (int half = 0; half < 2; ++half)
      tile.element(l, half, transposed) = static_cast<std::uint16_t>(from[l] >> 16 * half);
}

// --- Op::extra: the matrices' registers ---

std::uint32_t* registers(Warp& w, const Op* op, int matrix) {
  return w.at<std::uint32_t>(w.frame->code->extra[op->extra + static_cast<unsigned>(matrix)]);
}

// Finds the place of every row. False if a fault has ended the kernel.
bool rows_of(Warp& w, const Op* op, bool writing, LanePlaces& rows) {
  const int count = use_of<MatrixUse>(op).count * side;
  const std::uint32_t naming = count == lanes ? all_lanes : (1u << count) - 1;
  if (naming & ~w.alive) {
    w.fault(op, FaultKind::illegal_instruction, w.mask,
            fmt::format("lanes 0 to {} give the row addresses, but some of them have ended",
                        count - 1));
    return false;
  }
  const Space space = op->what->memory.front().space;
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, space, addresses);
  BadLanes bad = resolve_lanes(w, op, naming, space, addresses, row_bytes, writing, rows);
  if (!bad.lanes) bad = {naming & ~rows.shared, FaultKind::invalid_address_space};
  if (bad.lanes) bad_access(w, op, bad.lanes, addresses, row_bytes, writing, space, bad.kind);
  return !bad.lanes;
}

const Op* run_load(Warp& w, const Op* op) {
  LanePlaces rows;
  if (!rows_of(w, op, false, rows)) return nullptr;
  const MatrixUse use = use_of<MatrixUse>(op);
  Tile tiles[4];
  for (int m = 0; m < use.count; ++m)
    for (int r = 0; r < side; ++r) {
      std::memcpy(tiles[m].at[r], rows.at[m * side + r], row_bytes);
      if (w.variant) [[unlikely]]
        w.variant->load(m * side + r, tiles[m].at[r], row_bytes);
    }
  // Registers are written last because a destination may be the address register.
  for (int m = 0; m < use.count; ++m)
    to_registers(w, tiles[m], use.transposed, registers(w, op, m));
  return op + 1;
}

const Op* run_store(Warp& w, const Op* op) {
  LanePlaces rows;
  if (!w.variant && !rows_of(w, op, true, rows)) return nullptr;
  const MatrixUse use = use_of<MatrixUse>(op);
  for (int m = 0; m < use.count; ++m) {
    Tile tile;
    from_registers(registers(w, op, m), use.transposed, tile);
    for (int r = 0; r < side; ++r)
      if (w.variant) [[unlikely]]
        w.variant->store(m * side + r, tile.at[r], row_bytes);
      else
        std::memcpy(rows.at[m * side + r], tile.at[r], row_bytes);
  }
  if (w.variant) return op + 1;
  w.progressed = true;
  return op + 1;
}

const Op* run_move(Warp& w, const Op* op) {
  Tile tile;
  from_registers(w.at<std::uint32_t>(op->a), false, tile);
  to_registers(w, tile, true, w.at<std::uint32_t>(op->d));
  return op + 1;
}

// --- decoding ---

// The number of matrices that the modifiers name. Refuses forms that sm_90 lacks and returns 0.
int count_of(Lowering& lo) {
  constexpr ptx::ModSet known{Mod::m8n8, Mod::x1, Mod::x2, Mod::x4, Mod::trans};
  if (!only(lo, known)) return 0;
  if (lo.in.type() == Type::b16 && lo.in.mods.has(Mod::m8n8)) return lo.what.as<MatrixUse>()->count;
  lo.refuse(fmt::format("{} is supported only with .m8n8 and .b16, the form of sm_90", lo.in.name));
  return 0;
}

// The operand's registers: `{a, b}` or a single one.
std::span<const Operand> registers_of(const Lowering& lo, const Operand& o) {
  if (o.kind != Operand::Kind::vector) return {&o, 1};
  return {lo.function.pool.data() + o.index, o.count};
}

bool lower_access(Lowering& lo, const Row&) {
  const bool loads = lo.in.opcode == Opcode::ldmatrix;
  const int count = count_of(lo);
  if (!count) return false;
  if (lo.operands.size() != 2) return lo.refuse("it takes registers and an address");
  const Operand& address = lo.operands[loads ? 1 : 0];
  const auto list = registers_of(lo, lo.operands[loads ? 0 : 1]);
  if (list.size() != static_cast<unsigned>(count))
    return lo.refuse(fmt::format("{} takes {} registers", lo.in.name, count));
  Ref refs[4];
  for (int i = 0; i < count; ++i) {
    refs[i] = loads ? lo.destination(list[i], Type::b32) : lo.source(list[i], Type::b32);
    if (refs[i] == no_ref) return false;
  }
  const std::uint32_t extra = lo.extra({refs, static_cast<std::size_t>(count)});
  Op& op = lo.emit(loads ? run_whole_warp<run_load> : run_whole_warp<run_store>);
  op.extra = extra;
  return lo.address(address, op);
}

bool lower_move(Lowering& lo, const Row&) {
  if (!count_of(lo)) return false;
  if (!lo.what.as<MatrixUse>()->transposed)
    return lo.refuse("movmatrix transposes: it needs .trans");
  const Ref d = lo.destination(lo.operands[0], Type::b32);
  const Ref a = lo.source(lo.operands[1], Type::b32);
  if (d == no_ref || a == no_ref) return false;
  Op& op = lo.emit(run_whole_warp<run_move>);
  op.d = d, op.a = a;
  return true;
}

}  // namespace

void matrix_rows(Rows& rows) {
  add(rows, any_form(Opcode::ldmatrix, lower_access));
  add(rows, any_form(Opcode::stmatrix, lower_access));
  add(rows, any_form(Opcode::movmatrix, lower_move));
}

}  // namespace inflight::machine
