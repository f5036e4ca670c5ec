// Reads copies from their modifiers and operands (PTX ISA, "Data Movement and Conversion
// Instructions"), and the fields of tensor maps.
#include "gpu/machine/instruction/copy_detail.hpp"

#include "gpu/machine/instruction/modifiers.hpp"

namespace inflight::machine {
namespace {

using async::ReduceOp;
using async::TensorMapField;
using async::TensorType;
using check::Completion;
using ptx::Mod;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

constexpr Means<ReduceOp> operations[] = {
    {Mod::add, ReduceOp::add},    {Mod::min, ReduceOp::min},      {Mod::max, ReduceOp::max},
    {Mod::inc, ReduceOp::inc},    {Mod::dec, ReduceOp::dec},      {Mod::and_, ReduceOp::bit_and},
    {Mod::or_, ReduceOp::bit_or}, {Mod::xor_, ReduceOp::bit_xor},
};
constexpr struct {
  Type ptx;
  TensorType type;
} element_types[] = {
    {Type::u32, TensorType::u32}, {Type::s32, TensorType::s32},   {Type::b32, TensorType::u32},
    {Type::u64, TensorType::u64}, {Type::s64, TensorType::s64},   {Type::b64, TensorType::u64},
    {Type::f16, TensorType::f16}, {Type::bf16, TensorType::bf16}, {Type::f32, TensorType::f32},
    {Type::f64, TensorType::f64},
};
constexpr Means<std::uint8_t> ranks[] = {
    {Mod::_1d, 1}, {Mod::_2d, 2}, {Mod::_3d, 3}, {Mod::_4d, 4}, {Mod::_5d, 5}};

void reduction(const ptx::Instruction& in, CopyUse& out) {
  const auto operation = meaning(in.mods, operations);
  out.reduces = operation.has_value();
  out.reduction.operation = operation.value_or(ReduceOp::add);
  out.reduction.type = element_type_of(in.type()).value_or(TensorType::u8);
}

constexpr struct {
  Mod mod;
  MapFieldUse use;
} fields[] = {
    {Mod::global_address, {TensorMapField::global_address, Type::b64, false, false}},
    {Mod::rank, {TensorMapField::rank, Type::b32, false, false}},
    {Mod::box_dim, {TensorMapField::box_dim, Type::b32, true, false}},
    {Mod::global_dim, {TensorMapField::global_dim, Type::b32, true, false}},
    {Mod::global_stride, {TensorMapField::global_stride, Type::b64, true, false}},
    {Mod::element_stride, {TensorMapField::element_stride, Type::b32, true, false}},
    {Mod::elemtype, {TensorMapField::elemtype, Type::b32, false, true}},
    {Mod::interleave_layout, {TensorMapField::interleave_layout, Type::b32, false, true}},
    {Mod::swizzle_mode, {TensorMapField::swizzle_mode, Type::b32, false, true}},
    {Mod::fill_mode, {TensorMapField::fill_mode, Type::b32, false, true}},
};

// Programs of PTX ISA before 8.5 give strides in units of 16 bytes.
bool old_strides(const ptx::Module& m) {
  return m.version_major < 8 || (m.version_major == 8 && m.version_minor < 5);
}

}  // namespace

Detail thread_copy_use(const ptx::Function& function, const ptx::Instruction& in) {
  CopyUse out;
  out.completion = Completion::thread_group;
  out.own_only = in.space(0) != Space::shared_cluster;
  out.bytes = static_cast<std::uint8_t>(constant(function, in, 2).value_or(0));
  return out;
}

Detail bulk_copy_use(const ptx::Function&, const ptx::Instruction& in) {
  CopyUse out;
  out.prefetch = in.opcode == Opcode::cp_async_bulk_prefetch ||
                 in.opcode == Opcode::cp_async_bulk_prefetch_tensor;
  out.own_only = in.space(0) == Space::shared_cta;
  out.multicast = in.mods.has(Mod::multicast_cluster);
  out.masked = in.mods.has(Mod::cp_mask);
  out.skips = in.mods.has(Mod::ignore_oob);
  out.strong = in.mods.has(Mod::relaxed);
  const bool store = in.space(0) == Space::global && !out.prefetch;
  out.completion =
      in.mods.has(Mod::bulk_group) || store ? Completion::bulk_group : Completion::transaction;
  out.rank = meaning(in.mods, ranks).value_or(0);
  out.im2col = in.mods.has(Mod::im2col) || in.mods.has(Mod::im2col_no_offs);
  reduction(in, out);
  return out;
}

Detail tensor_copy_use(const ptx::Function& function, const ptx::Instruction& in) {
  Detail made = bulk_copy_use(function, in);
  std::get<CopyUse>(made).of = CopyUse::Of::tensor;
  return made;
}

Detail async_store_use(const ptx::Function&, const ptx::Instruction& in) {
  CopyUse out;
  out.of = CopyUse::Of::values;
  out.count = in.vector;
  out.bytes = static_cast<std::uint8_t>(ptx::size_of(in.type()));
  if (in.opcode == Opcode::red_async) reduction(in, out);
  return out;
}

Detail cancel_use(const ptx::Function&, const ptx::Instruction& in) {
  CopyUse out;
  out.of = CopyUse::Of::values;
  out.bytes = 16;
  out.multicast = in.mods.has(Mod::multicast_cluster_all);
  out.own_only = !out.multicast;
  return out;
}

std::optional<TensorType> element_type_of(Type type) {
  for (const auto& each : element_types)
    if (type == each.ptx) return each.type;
  return {};
}

Detail map_field_use(const ptx::Module& module, const ptx::Instruction& in) {
  for (auto [mod, use] : fields) {
    if (!in.mods.has(mod)) continue;
    use.in_sixteenths = use.field == TensorMapField::global_stride && old_strides(module);
    return use;
  }
  return {};
}

}  // namespace inflight::machine
