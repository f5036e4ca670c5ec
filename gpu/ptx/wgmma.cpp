// Types, shapes and immediates of wgmma.mma_async (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions: wgmma.mma_async, wgmma.mma_async.sp").
#include "gpu/ptx/wgmma.hpp"

#include <algorithm>

namespace inflight::ptx {
namespace {

using Kind = Operand::Kind;

// Types that may be multiplied by each other.
enum class Class : std::uint8_t { none, half, tf32, fp8, integer, bit };
Class class_of(Type t) {
  switch (t) {
    case Type::f16:
    case Type::bf16:
      return Class::half;
    case Type::tf32:
      return Class::tf32;
    case Type::e4m3:
    case Type::e5m2:
      return Class::fp8;
    case Type::s8:
    case Type::u8:
      return Class::integer;
    case Type::b1:
      return Class::bit;
    default:
      return Class::none;
  }
}

bool types_fit(Class both, Type d, Type a, Type b) {
  switch (both) {
    case Class::none:
      return false;
    case Class::half:
      return a == b && (d == Type::f32 || (d == Type::f16 && a == Type::f16));
    case Class::tf32:
      return d == Type::f32;
    case Class::fp8:
      return d == Type::f32 || d == Type::f16;
    case Class::integer:
    case Class::bit:
      return d == Type::s32;
  }
  return false;
}

// The k of a dense A: 32 bytes a row.
unsigned depth(Class both) {
  switch (both) {
    case Class::half:
      return 16;
    case Class::tf32:
      return 8;
    case Class::bit:
      return 256;
    default:
      return 32;
  }
}

bool is_immediate(const Operand& o, std::int64_t low, std::int64_t high) {
  return o.kind == Kind::integer && (o.value == low || o.value == high);
}

// Checks the immediates after scale-d: the signs of floats, then the transposes of 16-bit operands
// in shared memory.
std::string_view immediates_mistake(Class both, bool a_in_registers,
                                    std::span<const Operand> rest) {
  const bool floats = both == Class::half || both == Class::tf32 || both == Class::fp8;
  const std::size_t signs = floats ? 2 : 0;
  const std::size_t transposes = both != Class::half ? 0 : a_in_registers ? 1 : 2;
  if (rest.size() != signs + transposes) return "it has the wrong number of operands";
  const auto sign = [](const Operand& o) { return is_immediate(o, -1, 1); };
  const auto transpose = [](const Operand& o) { return is_immediate(o, 0, 1); };
  if (!std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(signs), sign))
    return "imm-scale-a and imm-scale-b must be -1 or 1";
  if (!std::all_of(rest.begin() + static_cast<std::ptrdiff_t>(signs), rest.end(), transpose))
    return "imm-trans-a and imm-trans-b must be 0 or 1";
  return {};
}

std::string_view operands_mistake(Class both, const Instruction& in,
                                  std::span<const Operand> operands) {
  const bool sparse = in.opcode == Opcode::wgmma_mma_async_sp;
  const std::size_t scale = sparse ? 5 : 3;
  if (operands.size() <= scale) return "it has the wrong number of operands";
  const auto is_list = [](const Operand& o, unsigned count) {
    return o.kind == Kind::vector && o.count == count;
  };
  if (!is_list(operands[0], in.shape[1] / (in.type() == Type::f16 ? 4u : 2u)))
    return "the number of accumulators does not match its shape";
  const bool a_in_registers = operands[1].kind == Kind::vector;
  if (a_in_registers && !is_list(operands[1], 4)) return "it takes four registers of A";
  // For elements of 16 and 32 bits, the selector picks the pair of each four threads that holds the
  // metadata. For 8 bits, all four threads hold it.
  const std::int64_t last_selector = both == Class::half || both == Class::tf32;
  if (sparse && !is_immediate(operands[4], 0, last_selector))
    return "it has no such sparsity selector";
  return immediates_mistake(both, a_in_registers, operands.subspan(scale + 1));
}

}  // namespace

std::string_view wgmma_mistake(const Instruction& in, std::span<const Operand> operands) {
  const bool sparse = in.opcode == Opcode::wgmma_mma_async_sp;
  const Class both = class_of(in.type(1));
  if (in.type_count != 3 || class_of(in.type(2)) != both ||
      !types_fit(both, in.type(), in.type(1), in.type(2)) || (sparse && both == Class::bit))
    return "it does not exist for these types";
  const bool words = both == Class::integer || both == Class::bit;
  const unsigned n = in.shape[1];
  if (in.shape[0] != 64 || in.shape[2] != depth(both) * (sparse ? 2 : 1) ||
      (words && n > 32 && n % 16 != 0))
    return "it does not exist for these types and this shape";
  if (in.mods.has(Mod::satfinite) && both != Class::integer) return ".satfinite is for integers";
  if ((in.mods.has(Mod::and_) && in.mods.has(Mod::popc)) != (both == Class::bit))
    return ".and.popc is for .b1";
  return operands_mistake(both, in, operands);
}

}  // namespace inflight::ptx
