// Undefined bits in loads and stores.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "gpu/machine/run/undefined.hpp"
#include "gpu/machine/run/undefined_steps.hpp"

namespace inflight::machine {
namespace {

const Op* end_of(const Frame& frame, const Op* op) {
  const Op* const end = frame.code->ops.data() + frame.code->ops.size();
  const Op* at = op;
  while (at != end && at->instruction == op->instruction) ++at;
  return at;
}

std::vector<std::uint32_t> registers_of(const ptx::Function& function, const ptx::Operand& o) {
  if (o.kind == ptx::Operand::Kind::reg) return {o.index};
  std::vector<std::uint32_t> all;
  if (o.kind != ptx::Operand::Kind::vector) return all;
  for (const ptx::Operand& each : std::span(function.pool).subspan(o.index, o.count))
    all.push_back(each.kind == ptx::Operand::Kind::reg ? each.index : ptx::none);
  return all;
}

struct Elements {
  std::vector<std::uint32_t> registers;
  std::size_t bytes = 0;  // of one element, in memory
};
// The elements of a plain load or store, whose value is operand `operand`.
Elements elements_of(const Frame& frame, const Instruction& what, std::size_t operand) {
  const auto operands = frame.code->function->operands(*what.text);
  Elements e;
  if (operand >= operands.size() || what.memory.empty()) return e;
  e.registers = registers_of(*frame.code->function, operands[operand]);
  if (!e.registers.empty()) e.bytes = what.memory.front().bytes / e.registers.size();
  return e;
}

// Inverts the undefined bits of a lane's element, which begins at byte `from` of the access, by
// `flip`. Then extends the sign as the load does.
void vary(std::byte* value, std::size_t width, std::size_t element,
          const check::UndefinedBytes& loaded, unsigned lane, std::size_t from, std::uint8_t flip,
          bool sign) {
  for (std::size_t i = 0; i < std::min(element, width); ++i)
    if (const auto byte = static_cast<std::uint32_t>(from + i); loaded.bytes[lane] >> byte & 1)
      value[i] ^= std::byte{flip} & std::byte{loaded.bits_of(lane, byte)};
  if (sign && element < width)
    std::memset(value + element, std::to_integer<int>(value[element - 1]) & 0x80 ? 0xff : 0,
                width - element);
}

// The bytes that a matrix store writes from a variant or, with variant_count, from the actual
// registers.
void store_matrix(Warp& w, UndefinedRegisters& u, const Op* op, unsigned variant,
                  std::byte (&to)[lanes * MatrixVariant::most]) {
  const MatrixVariant store{nullptr, 0, to};
  w.variant = &store;
  bool done = false;
  if (variant < variant_count) {
    const OnVariant on(w, u, variant);
    run_rest(w, op, done);
  } else {
    run_rest(w, op, done);
  }
  w.variant = nullptr;
}

// A lane's element: its place in the access, whether only moves of bits made it, and the bytes of
// one of the values that it packs.
struct Element {
  unsigned lane, from = 0;
  bool moved;
  std::size_t part = check::UndefinedBytes::most;
};

// The bytes of every value, of `part` bytes, that has one of these.
std::uint32_t whole_values(std::uint32_t bytes, std::size_t count, std::size_t part) {
  std::uint32_t all = 0;
  for (std::size_t i = 0; i < count; i += part) {
    const std::size_t end = std::min(i + part, count);
    const std::uint32_t value = (end < 32 ? (1u << end) - 1 : ~0u) & ~((1u << i) - 1);
    if (bytes & value) all |= value;
  }
  return all;
}

// Compares stored bytes with those of the variants. If the value was computed, all of it is
// undefined, even bytes that are equal.
void compare(const std::byte* is, const std::array<const std::byte*, variant_count>& others,
             std::size_t count, Element e, check::UndefinedBytes& stored) {
  std::uint32_t undefined = 0;
  bool copied = true, partly = false;
  std::array<std::uint8_t, check::UndefinedBytes::most> bits;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<std::byte, variant_count> differ;
    std::byte any{};
    for (unsigned v = 0; v < variant_count; ++v) any |= differ[v] = others[v][i] ^ is[i];
    bits[i] = std::to_integer<std::uint8_t>(any);
    if (any == std::byte{}) continue;
    bool flipped = e.moved || bits[i] == 0xff;
    for (unsigned v = 0; v < variant_count; ++v)
      flipped = flipped && differ[v] == (any & std::byte{flips[v]});
    undefined |= 1u << i, copied = copied && flipped, partly = partly || bits[i] != 0xff;
  }
  if (undefined == 0) return;
  if (!copied && stored.element != 0) undefined = whole_values(undefined, count, e.part);
  const std::uint32_t lane = 1u << e.lane;
  if (!(stored.lanes & lane)) stored.lanes |= lane, stored.bytes[e.lane] = 0;
  stored.bytes[e.lane] |= undefined << e.from;
  if (!copied) stored.computed |= lane;
  if (copied && partly && !(stored.partly & lane))
    stored.partly |= lane, stored.bits[e.lane].fill(0xff);
  if (copied && partly) std::copy_n(bits.begin(), count, stored.bits[e.lane].begin() + e.from);
}

void find_stored_matrix(Warp& w, UndefinedRegisters& u, const Op* op, const Instruction& what,
                        check::UndefinedBytes& stored) {
  if (w.mask != w.alive) return;
  u.refresh();
  prepare(u, what);
  std::byte bytes[variant_count + 1][lanes * MatrixVariant::most] = {};
  for (unsigned v = 0; v <= variant_count; ++v) store_matrix(w, u, op, v, bytes[v]);
  const std::size_t part = what.memory.front().bytes;
  take_inputs(u, what);
  const bool moved = u.inputs_moved;
  for (unsigned l = 0; l < lanes; ++l) {
    const std::size_t at = l * MatrixVariant::most;
    std::array<const std::byte*, variant_count> others;
    for (unsigned v = 0; v < variant_count; ++v) others[v] = bytes[v] + at;
    compare(bytes[variant_count] + at, others, part, {.lane = l, .moved = moved}, stored);
  }
}

void find_stored_elements(Warp& w, UndefinedRegisters& u, const Instruction& what,
                          std::uint32_t mask, check::UndefinedBytes& stored) {
  const Elements e = elements_of(*w.frame, what, 1);
  stored.element = static_cast<std::uint32_t>(e.bytes);
  for (std::size_t i = 0; i < e.registers.size(); ++i) {
    const std::uint32_t reg = e.registers[i];
    if (reg == ptx::none || u.origin[reg] == 0) continue;
    const std::size_t width = u.slot_size(reg) / lanes;
    for (std::uint32_t m = u.lanes_of(reg) & mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      const std::size_t at = l * width;
      std::array<const std::byte*, variant_count> others;
      for (unsigned v = 0; v < variant_count; ++v) others[v] = u.at(v, reg) + at;
      compare(u.actual(reg) + at, others, std::min(e.bytes, width),
              {l, static_cast<unsigned>(i * e.bytes), u.moved[reg], u.part[reg]}, stored);
    }
  }
}

}  // namespace

bool is_matrix(const Instruction& what) {
  return what.family == Family::matrix || what.family == Family::tensor_core;
}

const Op* run_rest(Warp& w, const Op* op, bool& done) {
  const Op* const end = end_of(*w.frame, op);
  for (++op; op < end && !goes_elsewhere(op); ++op)
    if (const Op* const next = op->handler()(w, op); next != op + 1) return done = false, next;
  return done = true, op;
}

void take_loaded(Warp& w, const Op* op, const check::UndefinedBytes& loaded) {
  const Instruction& what = instruction_at(*w.frame, op);
  const Elements e = elements_of(*w.frame, what, 0);
  if (e.bytes == 0 || what.memory.front().role != MemoryOperand::Role::load) return;
  UndefinedRegisters& u = undefined_registers(w, *w.frame);
  const bool sign = ptx::is_signed(what.text->type());
  for (std::size_t i = 0; i < e.registers.size(); ++i) {
    const std::uint32_t reg = e.registers[i];
    if (reg == ptx::none || w.frame->code->slots[reg] == no_ref) continue;
    u.copy(reg, u.origin[reg] == 0 ? all_lanes : executing(w, what));
    const std::size_t width = u.slot_size(reg) / lanes;
    for (std::uint32_t m = loaded.lanes; m != 0 && width != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      for (unsigned v = 0; v < variant_count; ++v)
        vary(u.at(v, reg) + l * width, width, e.bytes, loaded, l, i * e.bytes, flips[v], sign);
    }
    u.judge(w, reg, loaded.origin, executing(w, what), {what.family == Family::load});
  }
  ++u.loads;
}

const Op* load_matrix(Warp& w, const Op* op, const check::UndefinedBytes& loaded) {
  UndefinedRegisters& u = undefined_registers(w, *w.frame);
  const Instruction& what = instruction_at(*w.frame, op);
  u.refresh();
  prepare(u, what);
  bool done = false;
  const Op* const next = run_rest(w, op, done);
  if (!done) return next;
  for (unsigned v = 0; v < variant_count; ++v) {
    const OnVariant on(w, u, v);
    const MatrixVariant variant{&loaded, flips[v], nullptr};
    w.variant = &variant;
    run_rest(w, op, done);
    w.variant = nullptr;
  }
  ++u.loads;
  for (const RegisterUse& use : what.writes)
    u.judge(w, use.reg, loaded.origin, executing(w, what), {true});
  return next;
}

void find_stored(Warp& w, const Op* op, std::uint32_t mask, check::UndefinedBytes& stored) {
  UndefinedRegisters* const u = w.frame->undefined.get();
  if (!u || u->count == 0) return;
  const Instruction& what = instruction_at(*w.frame, op);
  stored.origin = origin_of(*u, what);
  if (stored.origin == 0) return;
  if (is_matrix(what))
    find_stored_matrix(w, *u, op, what, stored);
  else
    find_stored_elements(w, *u, what, mask, stored);
}

}  // namespace inflight::machine
