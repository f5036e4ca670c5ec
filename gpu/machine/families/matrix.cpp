// ldmatrix, stmatrix and movmatrix: matrices between shared memory and the registers of a warp (PTX
// ISA, "Warp-level Matrix Instructions: ldmatrix, stmatrix, movmatrix").
//
// Of each 8x8 matrix of 16-bit elements, lane T holds row T/4, columns 2(T%4) and 2(T%4)+1, or the
// same of its transpose. Lane 8i+r gives the address of the 16 bytes of row r of matrix i. Elements
// of 4 to 8 bits, 16 to a row, are bytes in registers. The whole warp takes part: diverged lanes
// wait for each other first.
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

// --- elements of 4 to 8 bits, in rows of 16 ---

constexpr int row_elements = 16;
struct ByteRows {
  std::uint8_t at[16][row_elements];
};

// Row `bytes` of a matrix as bytes. Smaller elements are the low bits.
void expand(MatrixUse::Format format, const std::uint8_t* bytes, std::uint8_t* out) {
  using Format = MatrixUse::Format;
  const int bits = format == Format::b4 ? 4 : format == Format::b6 ? 6 : 8;
  for (int i = 0; i < row_elements; ++i) {
    const int at = i * bits, shift = at % 8;
    const int low = bytes[at / 8], high = shift + bits > 8 ? bytes[at / 8 + 1] : 0;
    out[i] = static_cast<std::uint8_t>((low | high << 8) >> shift & ((1 << bits) - 1));
  }
}

// Four elements of lane T: of row T/4, from column 4(T%4) on. Transposed: of column T/4, and of
// column T/4 + 8 in the second register, from row 4(T%4) on.
std::uint32_t four_bytes(const ByteRows& rows, int lane, int reg, bool transposed) {
  const int across = lane / lanes_a_row + 8 * reg, along = 4 * (lane % lanes_a_row);
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t element =
        transposed ? rows.at[along + i][across] : rows.at[across][along + i];
    word |= element << 8 * i;
  }
  return word;
}

// --- Op::extra: the matrices' registers ---

std::uint32_t* registers(Warp& w, const Op* op, int matrix) {
  return w.at<std::uint32_t>(w.frame->code->extra[op->extra + static_cast<unsigned>(matrix)]);
}

// Finds the place of every row. False if a fault has ended the kernel.
bool rows_of(Warp& w, const Op* op, bool writing, LanePlaces& rows) {
  const MatrixUse& use = use_of<MatrixUse>(op);
  const int count = use.count * use.rows;
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
  BadLanes bad =
      resolve_parts(w, op, naming, space, addresses, use.row_bytes, row_bytes, writing, rows);
  if (!bad.lanes) bad = {naming & ~rows.shared, FaultKind::invalid_address_space};
  if (bad.lanes) bad_access(w, op, bad.lanes, addresses, use.row_bytes, writing, space, bad.kind);
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

const Op* run_load_bytes(Warp& w, const Op* op) {
  LanePlaces places;
  if (!rows_of(w, op, false, places)) return nullptr;
  const MatrixUse use = use_of<MatrixUse>(op);
  ByteRows matrices[4];
  for (int m = 0; m < use.count; ++m)
    for (int r = 0; r < use.rows; ++r) {
      std::uint8_t bytes[row_bytes] = {};
      std::memcpy(bytes, places.at[m * use.rows + r], use.row_bytes);
      if (w.variant) [[unlikely]]
        w.variant->load(m * use.rows + r, bytes, use.row_bytes);
      expand(use.format, bytes, matrices[m].at[r]);
    }
  for (int m = 0; m < use.count; ++m)
    for (int reg = 0; reg < use.registers; ++reg) {
      std::uint32_t* const to = registers(w, op, m * use.registers + reg);
      for (int l = 0; l < lanes; ++l)
        if (w.mask >> l & 1) to[l] = four_bytes(matrices[m], l, reg, use.transposed);
    }
  return op + 1;
}

// Byte i of lane T goes to row 2(T%4) + i%2 in memory, column T/4 + 8(i/2).
const Op* run_store_bytes(Warp& w, const Op* op) {
  LanePlaces places;
  if (!w.variant && !rows_of(w, op, true, places)) return nullptr;
  const MatrixUse use = use_of<MatrixUse>(op);
  for (int m = 0; m < use.count; ++m) {
    const std::uint32_t* const from = registers(w, op, m);
    std::uint8_t rows[side][row_elements];
    for (int l = 0; l < lanes; ++l)
      for (int i = 0; i < 4; ++i)
        rows[2 * (l % lanes_a_row) + i % 2][l / lanes_a_row + 8 * (i / 2)] =
            static_cast<std::uint8_t>(from[l] >> 8 * i);
    for (int r = 0; r < side; ++r)
      if (w.variant) [[unlikely]]
        w.variant->store(m * side + r, rows[r], row_bytes);
      else
        std::memcpy(places.at[m * side + r], rows[r], row_bytes);
  }
  if (!w.variant) w.progressed = true;
  return op + 1;
}

const Op* run_move(Warp& w, const Op* op) {
  Tile tile;
  from_registers(w.at<std::uint32_t>(op->a), false, tile);
  to_registers(w, tile, true, w.at<std::uint32_t>(op->d));
  return op + 1;
}

// --- decoding ---

// The forms: a shape, its elements, the most matrices, and whether it transposes.
enum class Transposes : std::uint8_t { maybe, always, never };
struct MatrixForm {
  Opcode opcode;
  Mod shape;
  MatrixUse::Format format;
  int most;
  Transposes transposes;
};
constexpr MatrixForm forms[] = {
    {Opcode::ldmatrix, Mod::m8n8, MatrixUse::Format::b16, 4, Transposes::maybe},
    {Opcode::stmatrix, Mod::m8n8, MatrixUse::Format::b16, 4, Transposes::maybe},
    {Opcode::movmatrix, Mod::m8n8, MatrixUse::Format::b16, 1, Transposes::always},
    {Opcode::ldmatrix, Mod::m16n16, MatrixUse::Format::b8, 2, Transposes::always},
    {Opcode::ldmatrix, Mod::m16n16, MatrixUse::Format::b6, 2, Transposes::always},
    {Opcode::ldmatrix, Mod::m16n16, MatrixUse::Format::b4, 2, Transposes::always},
    {Opcode::ldmatrix, Mod::m8n16, MatrixUse::Format::b6, 4, Transposes::never},
    {Opcode::ldmatrix, Mod::m8n16, MatrixUse::Format::b4, 4, Transposes::never},
    {Opcode::stmatrix, Mod::m16n8, MatrixUse::Format::b8, 4, Transposes::always},
};

bool is_form(const Lowering& lo, const MatrixForm& form) {
  const MatrixUse& use = *lo.what.as<MatrixUse>();
  const bool wanted = form.transposes == Transposes::always;
  // Elements that become bytes are named twice: .b8x16.b4x16_p64.
  const bool twice = form.format == MatrixUse::Format::b6 || form.format == MatrixUse::Format::b4;
  return lo.in.opcode == form.opcode && lo.in.mods.has(form.shape) && use.format == form.format &&
         use.count <= form.most && lo.in.mods.has(Mod::b8x16) == twice &&
         (lo.in.type_count == 0) == twice &&
         (form.transposes == Transposes::maybe || use.transposed == wanted);
}

// The number of matrices that the modifiers name. Refuses forms that PTX lacks and returns 0.
int count_of(Lowering& lo) {
  constexpr ptx::ModSet known{Mod::m8n8,  Mod::m16n16,    Mod::m8n16,    Mod::m16n8,
                              Mod::x1,    Mod::x2,        Mod::x4,       Mod::trans,
                              Mod::b8x16, Mod::b4x16_p64, Mod::b6x16_p32};
  if (!only(lo, known)) return 0;
  for (const MatrixForm& form : forms) {
    if (!is_form(lo, form)) continue;
    const bool since_blackwell = form.format != MatrixUse::Format::b16;
    if (since_blackwell && !lo.on_target(100, lo.in.name)) return 0;
    return lo.what.as<MatrixUse>()->count;
  }
  lo.refuse(fmt::format("PTX has no form {}", lo.in.name));
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
  const MatrixUse& use = *lo.what.as<MatrixUse>();
  const int needed = count * use.registers;
  if (list.size() != static_cast<unsigned>(needed))
    return lo.refuse(fmt::format("{} takes {} registers", lo.in.name, needed));
  Ref refs[4];
  for (int i = 0; i < needed; ++i) {
    refs[i] = loads ? lo.destination(list[i], Type::b32) : lo.source(list[i], Type::b32);
    if (refs[i] == no_ref) return false;
  }
  const std::uint32_t extra = lo.extra({refs, static_cast<std::size_t>(needed)});
  const bool halves = use.format == MatrixUse::Format::b16;
  Op& op = lo.emit(loads    ? halves ? run_whole_warp<run_load> : run_whole_warp<run_load_bytes>
                      : halves ? run_whole_warp<run_store>
                            : run_whole_warp<run_store_bytes>);
  op.extra = extra;
  return lo.address(address, op);
}

bool lower_move(Lowering& lo, const Row&) {
  if (!lo.what.as<MatrixUse>()->transposed)
    return lo.refuse("movmatrix transposes: it needs .trans");
  if (!count_of(lo)) return false;
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
