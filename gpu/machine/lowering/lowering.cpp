// Binds PTX operands to slots, constants and helper ops.
#include "gpu/machine/lowering/lowering.hpp"

#include <fmt/format.h>

#include <bit>

#include "gpu/machine/instruction/addresses.hpp"
#include "gpu/machine/lowering/code_builder.hpp"
#include "gpu/machine/run/values.hpp"

namespace inflight::machine {

using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = Operand::Kind;

namespace {

int log2_bytes(Type type) { return std::countr_zero(std::max(1u, ptx::size_of(type))); }

}  // namespace

Lowering::Lowering(CodeBuilder& builder, const Instruction& instruction)
    : what(instruction),
      in(*instruction.text),
      function(builder.function),
      module(builder.module),
      operands(builder.function.operands(in)),
      builder_(builder) {}

Op& Lowering::emit(Handler handler) { return builder_.emit(handler); }

bool Lowering::refuse(std::string_view why) {
  builder_.refuse(in, why);
  return false;
}

bool Lowering::on_target(int number, std::string_view form) {
  if (module.target_number >= number) return true;
  return refuse(fmt::format("{} needs .target sm_{} or later", form, number));
}

const CodeForm& Lowering::form() const { return builder_.form; }
Code& Lowering::code() { return *builder_.code; }

const MoveHandlers& Lowering::moves() const { return builder_.moves; }

bool Lowering::is_entry_parameter(std::uint32_t variable) const {
  std::uint32_t offset = 0;
  return builder_.is_entry_parameter(variable, offset);
}

const Memory& Lowering::program_memory() const { return builder_.program.memory(); }

Type Lowering::register_type(const Operand& o) const {
  return o.kind == Kind::reg ? function.registers[o.index].type : Type::none;
}

bool Lowering::may_be_held(std::uint32_t reg) const {
  const auto& held = builder_.description.held;
  return !held.empty() && held[reg];
}

Ref Lowering::scratch(Type type) { return builder_.scratch(slot_bytes(type)); }

bool Lowering::is_constant(const Operand& o) const { return o.kind == Kind::integer; }
std::int64_t Lowering::constant(const Operand& o) const { return o.value; }

std::uint32_t Lowering::extra(std::span<const Ref> refs) {
  auto& all = builder_.code->extra;
  const auto first = static_cast<std::uint32_t>(all.size());
  all.insert(all.end(), refs.begin(), refs.end());
  return first;
}

Ref Lowering::destination(const Operand& o, Type type) {
  if (o.kind == Kind::sink) return scratch(type);
  if (o.kind == Kind::vector) {
    const Ref d = scratch(type);
    unpack_.push_back({d, type, &o});
    return d;
  }
  if (o.kind != Kind::reg) {
    refuse("the destination must be a register");
    return no_ref;
  }
  const Type declared = function.registers[o.index].type;
  const unsigned have = std::max(2u, ptx::size_of(declared)), bytes = ptx::size_of(type);
  if (declared == Type::pred || have < bytes) {
    refuse(fmt::format("register {} cannot hold a .{} result", function.registers[o.index].name,
                       ptx::spelling(type)));
    return no_ref;
  }
  if (have == bytes) return builder_.slot(o.index);
  const Ref d = scratch(type);
  widen_.push_back({d, builder_.slot(o.index), type, declared});
  return d;
}

void Lowering::finish() {
  const auto widen = [&](const Put& put) {
    const int from = log2_bytes(put.type);
    const int to = std::countr_zero(std::max(2u, ptx::size_of(put.wide)));
    if (from > 3 || to > 3) {
      refuse("a 128-bit register takes 128-bit results only");
      return;
    }
    Op& op = emit(moves().extend[ptx::is_signed(put.type)][from][to]);
    op.a = put.from, op.d = put.to;
  };
  for (const Put& put : widen_) widen(put);
  for (const auto& u : unpack_) {
    const unsigned count = u.vector->count, part = count ? ptx::size_of(u.type) / count : 0;
    static constexpr Type parts[] = {Type::b8, Type::b16, Type::b32, Type::b64};
    if (part == 0 || part > 8 || !std::has_single_bit(part)) {
      refuse("the value cannot be divided into this vector");
      continue;
    }
    const std::size_t puts = widen_.size();
    for (unsigned i = 0; i < count; ++i) {
      const Operand& o = function.pool[u.vector->index + i];
      if (o.kind == Kind::sink) continue;
      const Ref d = destination(o, parts[std::countr_zero(part)]);
      if (d == no_ref) break;
      Op& op = emit(moves().unpack[std::countr_zero(part)]);
      op.a = u.from, op.d = d;
      op.detail = static_cast<std::uint16_t>(i), op.count = static_cast<std::uint8_t>(count);
    }
    for (std::size_t i = puts; i < widen_.size(); ++i) widen(widen_[i]);
  }
  widen_.clear();
  unpack_.clear();
}

Ref Lowering::predicate(const Operand& o, std::uint8_t& flags, std::uint8_t negated_flag) {
  if (o.kind == Kind::integer) return builder_.constant(o.value ? 0xffffffffu : 0u, 4);
  if (o.kind == Kind::special &&
      static_cast<ptx::Special>(o.index) == ptx::Special::is_explicit_cluster)
    return builder_.block_value(special_slot(ptx::Special::is_explicit_cluster, 0));
  if (o.kind != Kind::reg || function.registers[o.index].type != Type::pred) {
    refuse("a predicate register is needed");
    return no_ref;
  }
  if (o.negated) flags |= negated_flag;
  return builder_.slot(o.index);
}

Ref Lowering::predicate_destination(const Operand& o) {
  if (o.kind == Kind::reg && function.registers[o.index].type == Type::pred)
    return builder_.slot(o.index);
  if (o.kind != Kind::sink) refuse("the destination must be a predicate register");
  return scratch(Type::pred);
}

Ref Lowering::second_destination(const Operand& o) {
  const bool pair = o.kind == Kind::reg || o.kind == Kind::sink;
  return pair && o.second != ptx::none ? builder_.slot(o.second) : no_ref;
}

bool Lowering::address(const Operand& o, Op& op) {
  // As addresses do, offsets wrap.
  const auto add = [](std::int64_t& offset, std::uint64_t more) {
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + more);
  };
  if (o.kind != Kind::address) return refuse("an address in brackets is needed");
  op.imm = o.value;
  switch (o.base) {
    case Kind::reg: {
      const unsigned bytes = ptx::size_of(function.registers[o.index].type);
      if (bytes != 4 && bytes != 8) return refuse("an address register has 32 or 64 bits");
      op.a = builder_.slot(o.index);
      if (bytes == 8) op.flags |= Op::address_64;
      return true;
    }
    case Kind::integer:
    case Kind::sink:
      op.a = no_ref;
      return true;
    case Kind::variable: {
      const auto& v = module.variables[o.index];
      std::uint32_t offset = 0;
      op.a = no_ref;
      if (v.space == Space::param && builder_.is_entry_parameter(o.index, offset)) {
        add(op.imm, offset);
        return true;
      }
      if (v.space == Space::local || v.space == Space::param) {
        add(op.imm, builder_.local_offset(o.index));
        return true;
      }
      const auto place = builder_.program.place(builder_.code->ref.module, o.index);
      if (!place.defined)
        return refuse(
            fmt::format("variable {} is declared extern, but no module defines it", v.name));
      if (place.dynamic_shared) {
        op.a = builder_.block_value(dynamic_shared_slot(4));
      } else {
        add(op.imm, place.address);
      }
      return true;
    }
    default:
      return refuse("this address cannot be formed");
  }
}

Ref Lowering::address_lanes(const Operand& o, Space space) {
  const Type type = has_narrow_addresses(space) ? Type::u32 : Type::u64;
  if (o.kind != Kind::address) {
    refuse("an address in brackets is needed");
    return no_ref;
  }
  Operand base = o;
  base.kind = o.base;
  if (o.base != Kind::reg) return source(base, type);
  base.value = 0;
  const Ref a = source(base, type);
  if (o.value == 0 || a == no_ref) return a;
  const Ref d = scratch(type);
  Op& op = emit(moves().offset[type == Type::u64]);
  op.a = a, op.d = d, op.imm = o.value;
  return d;
}

}  // namespace inflight::machine
