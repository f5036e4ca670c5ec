// Reads shapes, kinds and operands from modifiers.
#include "gpu/machine/instruction/tcgen05.hpp"

#include <fmt/format.h>

#include "gpu/machine/instruction/modifiers.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using Shape = TensorMemoryUse::Shape;
using Kind = BlockMultiplyUse::Kind;

constexpr Means<Shape> shapes[] = {{Mod::_32x32b, Shape::l32x32b},
                                   {Mod::_16x64b, Shape::l16x64b},
                                   {Mod::_16x128b, Shape::l16x128b},
                                   {Mod::_16x256b, Shape::l16x256b},
                                   {Mod::_16x32bx2, Shape::l16x32bx2}};
constexpr Means<std::uint8_t> counts[] = {{Mod::x1, 1},   {Mod::x2, 2},    {Mod::x4, 4},
                                          {Mod::x8, 8},   {Mod::x16, 16},  {Mod::x32, 32},
                                          {Mod::x64, 64}, {Mod::x128, 128}};
constexpr Means<Kind> kinds[] = {{Mod::kind_f16, Kind::f16},           {Mod::kind_tf32, Kind::tf32},
                                 {Mod::kind_f8f6f4, Kind::f8f6f4},     {Mod::kind_i8, Kind::i8},
                                 {Mod::kind_mxf8f6f4, Kind::mxf8f6f4}, {Mod::kind_mxf4, Kind::mxf4},
                                 {Mod::kind_mxf4nvf4, Kind::mxf4nvf4}};

std::uint8_t group_of(const ptx::Instruction& in) { return in.mods.has(Mod::cta_group_2) ? 2 : 1; }

// How many scales each row has.
std::uint8_t scales_of(const ptx::Instruction& in, Kind kind) {
  if (kind < Kind::mxf8f6f4) return 0;
  if (kind == Kind::mxf8f6f4) return 1;
  return in.mods.has(Mod::scale_vec_4X) || in.mods.has(Mod::block16) ? 4 : 2;
}

}  // namespace

TensorMemoryUse::Place TensorMemoryUse::place(unsigned thread, unsigned reg) const {
  switch (shape) {
    case Shape::l32x32b:
      return {thread, reg};
    case Shape::l16x64b:
      return {thread / 4 + 8 * (thread % 2), 2 * reg + thread / 2 % 2};
    case Shape::l16x128b:
      return {thread / 4 + 8 * (reg % 2), reg / 2 * 4 + thread % 4};
    case Shape::l16x256b:
      return {thread / 4 + 8 * (reg / 2 % 2), reg / 4 * 8 + 2 * (thread % 4) + reg % 2};
    case Shape::l16x32bx2:
      return {thread % 16, reg};
  }
  return {};
}

unsigned TensorMemoryUse::columns() const {
  const unsigned words = shape == Shape::l16x64b    ? 2
                         : shape == Shape::l16x128b ? 4
                         : shape == Shape::l16x256b ? 8
                                                    : 1;
  return words * count * (packs ? 2 : 1);
}

TensorMemoryUse tensor_memory_use(const ptx::Instruction& in) {
  TensorMemoryUse use;
  use.shape = meaning(in.mods, shapes).value_or(Shape::l32x32b);
  use.count = meaning(in.mods, counts).value_or(1);
  use.packs = in.mods.has(Mod::pack_16b) || in.mods.has(Mod::unpack_16b);
  return use;
}

TensorMemoryCopyUse tensor_memory_copy_use(const ptx::Instruction& in) {
  using Multicast = TensorMemoryCopyUse::Multicast;
  TensorMemoryCopyUse use;
  use.group = group_of(in);
  use.chunks = in.mods.has(Mod::_128x256b) || in.mods.has(Mod::_4x256b) ? 2 : 1;
  use.rows = in.mods.has(Mod::_4x256b)    ? 4
             : in.mods.has(Mod::_64x128b) ? 64
             : in.mods.has(Mod::_32x128b) ? 32
                                          : 128;
  if (in.mods.has(Mod::warpx2_02_13)) use.multicast = Multicast::x2_02_13;
  if (in.mods.has(Mod::warpx2_01_23)) use.multicast = Multicast::x2_01_23;
  if (in.mods.has(Mod::warpx4)) use.multicast = Multicast::x4;
  if (in.mods.has(Mod::b8x16))
    use.expanded_bits = in.mods.has(Mod::b4x16_p64) ? 4 : in.mods.has(Mod::b6x16_p32) ? 6 : 0;
  return use;
}

BlockMultiplyUse block_multiply_use(const ptx::Function& function, const ptx::Instruction& in) {
  BlockMultiplyUse use;
  use.kind = meaning(in.mods, kinds).value_or(Kind::f16);
  use.group = group_of(in);
  use.sparse = in.opcode == Opcode::tcgen05_mma_sp || in.opcode == Opcode::tcgen05_mma_ws_sp;
  use.weight_stationary =
      in.opcode == Opcode::tcgen05_mma_ws || in.opcode == Opcode::tcgen05_mma_ws_sp;
  use.scales = scales_of(in, use.kind);
  const auto operands = function.operands(in);
  const auto is = [&](std::uint8_t at, Operand::Kind kind) {
    return at < operands.size() && operands[at].kind == kind;
  };
  use.a_in_tensor_memory = is(1, Operand::Kind::address);
  std::uint8_t at = 3;
  if (use.sparse) use.metadata = at++;
  use.descriptor = at++;
  if (use.scaled()) use.scale_a = at++, use.scale_b = at++;
  if (is(at, Operand::Kind::vector)) use.mask = at++;
  use.accumulates = at++;
  if (at < operands.size()) (use.weight_stationary ? use.zero_columns : use.scale_d) = at;
  return use;
}

std::string tcgen05_target_mistake(const ptx::Instruction& in, std::string_view target) {
  const std::string_view name = target.substr(target.find('_') + 1);
  const char suffix = name.empty() ? ' ' : name.back();
  const std::string_view number = name.substr(0, name.size() - 1);
  const bool has_cores = number == "100" || number == "101" || number == "103" || number == "110";
  if (!has_cores || (suffix != 'a' && suffix != 'f'))
    return "it needs a .target of an architecture or family with tensor memory, such as sm_100a or "
           "sm_100f";
  const ptx::ModSet& mods = in.mods;
  const bool scale_vec =
      mods.has(Mod::scale_vec_1X) || mods.has(Mod::scale_vec_2X) || mods.has(Mod::scale_vec_4X);
  if (suffix == 'f' && (in.opcode == Opcode::tcgen05_shift || scale_vec ||
                        (in.opcode == Opcode::tcgen05_mma_sp &&
                         (mods.has(Mod::kind_mxf4) || mods.has(Mod::kind_mxf4nvf4)))))
    return "it needs a .target of one architecture, such as sm_100a";
  if (mods.has(Mod::kind_i8) && (suffix == 'f' || number == "103"))
    return ".kind::i8 needs .target sm_100a or sm_110a";
  if (in.opcode == Opcode::tcgen05_ld_red && (suffix == 'f' || number == "100"))
    return "it needs .target sm_103a or sm_110a";
  return {};
}

}  // namespace inflight::machine
