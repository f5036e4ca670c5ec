// Finds the places of source operands: registers, constants, special registers, variables,
// functions, vectors.
#include <fmt/format.h>

#include <bit>

#include "gpu/check/names.hpp"
#include "gpu/machine/lowering/code_builder.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/values.hpp"

namespace inflight::machine {

using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = Operand::Kind;

namespace {

// The sum modulo 2^64: addresses wrap.
std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

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

Ref Lowering::source(const Operand& o, Type type) {
  if (ptx::size_of(type) == 0) {
    refuse("this operand has no type");
    return no_ref;
  }
  switch (o.kind) {
    case Kind::reg:
      return register_source(o, type);
    case Kind::integer:
    case Kind::f32:
    case Kind::f64:
      return builder_.constant(literal_bits(o, type), ptx::size_of(type));
    case Kind::special:
      return special_source(o, type);
    case Kind::variable:
      return variable_source(o, type);
    case Kind::function:
      return function_source(o, type);
    case Kind::vector:
      return vector_source(o, type);
    default:
      return unreadable(type);
  }
}

Ref Lowering::unreadable(Type type) {
  refuse(fmt::format("this operand cannot be read as .{}", ptx::spelling(type)));
  return no_ref;
}

Ref Lowering::register_source(const Operand& o, Type type) {
  const unsigned bytes = ptx::size_of(type);
  const Type declared = function.registers[o.index].type;
  const Ref slot = builder_.slot(o.index);
  // 8-bit registers have 16-bit lanes.
  const unsigned have = std::max(2u, ptx::size_of(declared));
  if (declared == Type::pred) {
    refuse(fmt::format("a predicate where a {} value is needed", ptx::spelling(type)));
    return no_ref;
  }
  if (have == bytes) return slot;
  const int from = std::countr_zero(have), to = std::countr_zero(bytes);
  const Handler handler = have > bytes && from < 4 ? moves().narrow[from][to]
                          : from < 4 && to < 4     ? moves().extend[ptx::is_signed(type)][from][to]
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

Ref Lowering::special_source(const Operand& o, Type type) {
  const unsigned bytes = ptx::size_of(type);
  const auto special = static_cast<ptx::Special>(o.index);
  builder_.code->reads_workspace |=
      special == ptx::Special::envreg1 || special == ptx::Special::envreg2;
  if (const Ref slot = special_slot(special, o.value); slot != no_ref) {
    builder_.block_value(slot);
    if (bytes == 4) return slot;
    const Ref d = scratch(type);
    Op& op = emit(bytes < 4 ? moves().narrow[2][std::countr_zero(bytes)] : moves().extend[0][2][3]);
    op.a = slot, op.d = d;
    return d;
  }
  const Ref d = scratch(type);
  Op& op = emit(moves().special[bytes == 8]);
  op.d = d, op.detail = static_cast<std::uint16_t>(special);
  builder_.read_clock();
  return d;
}

Ref Lowering::variable_source(const Operand& o, Type type) {
  const unsigned bytes = ptx::size_of(type);
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
    refuse(fmt::format("variable {} is declared extern, but no module defines it", v.name));
    return no_ref;
  }
  const bool moves_with_rank = place.space == Space::shared && builder_.form.clustered;
  if (!place.dynamic_shared && !moves_with_rank)
    return builder_.constant(place.address + o.value, bytes);
  const Ref start = place.dynamic_shared ? dynamic_shared_slot(bytes) : shared_window_slot(bytes);
  builder_.block_value(start);
  const std::int64_t beyond =
      wrapped_sum(o.value, place.dynamic_shared ? 0 : static_cast<std::int64_t>(place.address));
  if (beyond == 0) return start;
  const Ref d = scratch(type);
  Op& op = emit(moves().offset[bytes == 8]);
  op.a = start, op.d = d, op.imm = beyond;
  return d;
}

Ref Lowering::function_source(const Operand& o, Type type) {
  const auto target = builder_.program.resolve(builder_.code->ref.module, o.index);
  if (target.module == ptx::none) {
    refuse(
        fmt::format("function {} is not defined", check::readable(module.functions[o.index].name)));
    return no_ref;
  }
  return builder_.constant(builder_.program.code_address(target), ptx::size_of(type));
}

Ref Lowering::vector_source(const Operand& o, Type type) {
  const unsigned bytes = ptx::size_of(type);
  if (o.count == 1) return source(function.pool[o.index], type);
  if ((o.count != 2 && o.count != 4) || bytes % o.count != 0) return unreadable(type);
  static constexpr Type parts[] = {Type::b8, Type::b16, Type::b32, Type::b64};
  const unsigned part = bytes / o.count;
  if (part == 0 || part > 8) return unreadable(type);
  const Type part_type = parts[std::countr_zero(part)];
  Ref refs[4] = {no_ref, no_ref, no_ref, no_ref};
  for (unsigned i = 0; i < o.count; ++i) {
    refs[i] = source(function.pool[o.index + i], part_type);
    if (refs[i] == no_ref) return no_ref;
  }
  const Handler handler = (o.count == 2 ? moves().pack2 : moves().pack4)[std::countr_zero(part)];
  if (!handler) return unreadable(type);
  const Ref d = scratch(type);
  const auto first = o.count == 4 ? extra(refs) : 0;
  Op& op = emit(handler);
  op.d = d, op.a = refs[0], op.b = refs[1], op.extra = first;
  return d;
}

}  // namespace inflight::machine
