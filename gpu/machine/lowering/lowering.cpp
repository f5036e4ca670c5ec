// Binding PTX operands to slots, constants and helper ops.
#include "gpu/machine/lowering/lowering.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/check/names.hpp"
#include "gpu/machine/lowering/code_builder.hpp"
#include "gpu/machine/run/values.hpp"

namespace inflight::machine {

using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = Operand::Kind;

namespace {

// Addresses wrap, as the instructions' own additions do.
std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

int log2_bytes(Type type) { return std::countr_zero(std::max(1u, ptx::size_of(type))); }

// A literal's bits as a value of `type`.
std::uint64_t literal_bits(const Operand& o, Type type) {
  if (o.kind == Kind::integer) {
    if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(o.value));
    if (type == Type::f64) return std::bit_cast<std::uint64_t>(static_cast<double>(o.value));
    return static_cast<std::uint64_t>(o.value);
  }
  if (o.kind == Kind::f32) {
    const float f = std::bit_cast<float>(static_cast<std::uint32_t>(o.value));
    if (type == Type::f64) return std::bit_cast<std::uint64_t>(static_cast<double>(f));
    return static_cast<std::uint32_t>(o.value);
  }
  const double d = std::bit_cast<double>(o.value);
  if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(d));
  return static_cast<std::uint64_t>(o.value);
}

}  // namespace

Lowering::Lowering(CodeBuilder& builder, const Instruction& instruction)
    : what(instruction),
      in(*instruction.text),
      function(builder.function),
      module(builder.module),
      operands(builder.function.operands(in)),
      builder_(builder) {}

Op& Lowering::emit(Handler handler) { return builder_.emit(handler); }

bool Lowering::refuse(std::string why) {
  builder_.refuse(in, std::move(why));
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

Ref Lowering::source(const Operand& o, Type type) {
  const unsigned bytes = ptx::size_of(type);
  if (bytes == 0) {
    refuse("this operand has no type");
    return no_ref;
  }
  switch (o.kind) {
    case Kind::reg: {
      const Type declared = function.registers[o.index].type;
      const Ref slot = builder_.slot(o.index);
      // 8-bit registers live in 16-bit lanes.
      const unsigned have = std::max(2u, ptx::size_of(declared));
      if (declared == Type::pred) {
        refuse(fmt::format("a predicate where a {} value is needed", ptx::spelling(type)));
        return no_ref;
      }
      if (have == bytes) return slot;
      const int from = std::countr_zero(have), to = std::countr_zero(bytes);
      const Handler handler = have > bytes && from < 4 ? moves().narrow[from][to]
                              : from < 4 && to < 4 ? moves().extend[ptx::is_signed(type)][from][to]
                                                   : nullptr;
      if (!handler) {
        refuse(fmt::format("register {} is {} bits wide where {} are needed",
                           function.registers[o.index].name, have * 8, bytes * 8));
        return no_ref;
      }
      const Ref d = scratch(type);
      Op& op = emit(handler);
      op.a = slot, op.d = d;
      return d;
    }
    case Kind::integer:
    case Kind::f32:
    case Kind::f64:
      return builder_.constant(literal_bits(o, type), bytes);
    case Kind::special: {
      const auto special = static_cast<ptx::Special>(o.index);
      builder_.code->reads_workspace |=
          special == ptx::Special::envreg1 || special == ptx::Special::envreg2;
      if (const Ref slot = special_slot(special, o.value); slot != no_ref) {
        if (bytes == 4) return slot;
        const Ref d = scratch(type);
        Op& op =
            emit(bytes < 4 ? moves().narrow[2][std::countr_zero(bytes)] : moves().extend[0][2][3]);
        op.a = slot, op.d = d;
        return d;
      }
      const Ref d = scratch(type);
      Op& op = emit(moves().special[bytes == 8]);
      op.d = d, op.detail = static_cast<std::uint16_t>(special);
      builder_.read_clock();
      return d;
    }
    case Kind::variable: {
      const auto& v = module.variables[o.index];
      std::uint32_t offset = 0;
      if (v.space == Space::param && builder_.is_entry_parameter(o.index, offset))
        return builder_.constant(offset + o.value, bytes);
      if (v.space == Space::local || v.space == Space::param) {
        const Ref d = scratch(type);
        Op& op = emit(moves().local_address[bytes == 8]);
        op.d = d, op.imm = wrapped_sum(builder_.local_offset(o.index), o.value);
        return d;
      }
      const auto place = builder_.program.place(builder_.code->ref.module, o.index);
      if (!place.defined) {
        refuse(fmt::format("variable {} is declared extern and nobody defines it", v.name));
        return no_ref;
      }
      const bool moves_with_rank = place.space == Space::shared && builder_.form.clustered;
      if (!place.dynamic_shared && !moves_with_rank)
        return builder_.constant(place.address + o.value, bytes);
      const Ref start =
          place.dynamic_shared ? dynamic_shared_slot(bytes) : shared_window_slot(bytes);
      const std::int64_t beyond =
          wrapped_sum(o.value, place.dynamic_shared ? 0 : static_cast<std::int64_t>(place.address));
      if (beyond == 0) return start;
      const Ref d = scratch(type);
      Op& op = emit(moves().offset[bytes == 8]);
      op.a = start, op.d = d, op.imm = beyond;
      return d;
    }
    case Kind::function: {
      const auto target = builder_.program.resolve(builder_.code->ref.module, o.index);
      if (target.module == ptx::none) {
        refuse(fmt::format("function {} is not defined",
                           check::readable(module.functions[o.index].name)));
        return no_ref;
      }
      return builder_.constant(builder_.program.code_address(target), bytes);
    }
    case Kind::vector: {
      if (o.count == 1) return source(function.pool[o.index], type);
      if (o.count == 0 || bytes % o.count != 0) break;
      static constexpr Type parts[] = {Type::b8, Type::b16, Type::b32, Type::b64};
      const unsigned part = bytes / o.count;
      if (part == 0 || part > 8) break;
      const Type part_type = parts[std::countr_zero(part)];
      Ref refs[4] = {no_ref, no_ref, no_ref, no_ref};
      if (o.count != 2 && o.count != 4) break;
      for (unsigned i = 0; i < o.count; ++i) {
        refs[i] = source(function.pool[o.index + i], part_type);
        if (refs[i] == no_ref) return no_ref;
      }
      const Handler handler = (o.count == 2 ? moves().pack2 : moves().pack4)[log2_bytes(part_type)];
      if (!handler) break;
      const Ref d = scratch(type);
      const auto first = o.count == 4 ? extra(refs) : 0;
      Op& op = emit(handler);
      op.d = d, op.a = refs[0], op.b = refs[1], op.extra = first;
      return d;
    }
    default:
      break;
  }
  refuse(fmt::format("this operand cannot be read as .{}", ptx::spelling(type)));
  return no_ref;
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
      refuse("this vector does not divide the value");
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
    return special_slot(ptx::Special::is_explicit_cluster, 0);
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
        op.imm += offset;
        return true;
      }
      if (v.space == Space::local || v.space == Space::param) {
        op.imm += builder_.local_offset(o.index);
        return true;
      }
      const auto place = builder_.program.place(builder_.code->ref.module, o.index);
      if (!place.defined)
        return refuse(fmt::format("variable {} is declared extern and nobody defines it", v.name));
      if (place.dynamic_shared) {
        op.a = dynamic_shared_slot(4);
      } else {
        op.imm += static_cast<std::int64_t>(place.address);
      }
      return true;
    }
    default:
      return refuse("this address cannot be formed");
  }
}

Ref Lowering::address_lanes(const Operand& o, Type type) {
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
