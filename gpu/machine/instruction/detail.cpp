// One function for each kind of instruction that has more to say.
#include "gpu/machine/instruction/detail.hpp"

#include <algorithm>
#include <optional>

#include "gpu/machine/instruction/tensor_detail.hpp"
#include "gpu/machine/instruction/wgmma.hpp"

namespace inflight::machine {
namespace {

using check::Completion;
using check::Order;
using check::Proxy;
using check::Scope;
using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

// What the first modifier that is there stands for.
template <class T>
struct Means {
  Mod mod;
  T what;
};
template <class T, std::size_t n>
std::optional<T> meaning(const ModSet& mods, const Means<T> (&table)[n]) {
  for (const auto& [mod, what] : table)
    if (mods.has(mod)) return what;
  return {};
}

constexpr Means<Order> orders[] = {
    {Mod::sc, Order::seq_cst},          {Mod::mmio, Order::mmio},
    {Mod::volatile_, Order::volatile_}, {Mod::acq_rel, Order::acq_rel},
    {Mod::release, Order::release},     {Mod::acquire, Order::acquire},
    {Mod::relaxed, Order::relaxed}};
constexpr Means<Scope> scopes[] = {{Mod::sys, Scope::sys},
                                   {Mod::gl, Scope::gpu},
                                   {Mod::gpu, Scope::gpu},
                                   {Mod::cluster, Scope::cluster},
                                   {Mod::cta, Scope::cta}};
constexpr Means<Space> restrictions[] = {
    {Mod::sync_restrict_shared_cta, Space::shared_cta},
    {Mod::sync_restrict_shared_cluster, Space::shared_cluster}};

// The constant that an operand is.
std::optional<std::int64_t> constant(const ptx::Function& function, const ptx::Instruction& in,
                                     std::size_t operand) {
  const auto operands = function.operands(in);
  if (operand >= operands.size() || operands[operand].kind != ptx::Operand::Kind::integer)
    return {};
  return operands[operand].value;
}

// --- fences ---

Detail fence(const ptx::Function&, const ptx::Instruction& in) {
  Fence out;
  out.order = order_of(in.mods, Order::acq_rel);
  out.scope = scope_of(in.mods, Scope::cta);
  out.only = meaning(in.mods, restrictions).value_or(Space::generic);
  return out;
}

// membar.level is fence.sc of that scope since sm_70.
Detail membar(const ptx::Function&, const ptx::Instruction& in) {
  Fence out;
  out.order = Order::seq_cst;
  out.scope = scope_of(in.mods, Scope::sys);
  if (in.mods.has(Mod::alias)) out.kind = check::Fence::Kind::proxy, out.to = Proxy::alias;
  return out;
}

Detail fence_proxy(const ptx::Function&, const ptx::Instruction& in) {
  Fence out;
  out.kind = check::Fence::Kind::proxy;
  out.order = order_of(in.mods, Order::acq_rel);
  out.scope = scope_of(in.mods, Scope::cta);
  out.only = in.space_count ? in.space() : meaning(in.mods, restrictions).value_or(Space::generic);
  if (in.mods.has(Mod::alias)) out.to = Proxy::alias;
  if (in.mods.has(Mod::async)) out.to = Proxy::async;
  // PROXY::generic orders accesses of the first proxy with later ones of the generic proxy where it
  // acquires, and the other way round where it releases.
  const Proxy other = in.mods.has(Mod::tensormap_generic) ? Proxy::tensormap
                      : in.mods.has(Mod::async_generic)   ? Proxy::async
                                                          : Proxy::generic;
  if (other != Proxy::generic) out.to = other;
  return out;
}

// Its fence.
Detail map_copy(const ptx::Function&, const ptx::Instruction& in) {
  return Fence{.kind = check::Fence::Kind::proxy,
               .order = Order::release,
               .scope = scope_of(in.mods, Scope::cta),
               .to = Proxy::tensormap};
}

Detail fence_mbarrier_init(const ptx::Function&, const ptx::Instruction&) {
  return Fence{
      .kind = check::Fence::Kind::mbarrier_init, .order = Order::release, .scope = Scope::cluster};
}

// --- barriers and collectives ---

Detail barrier(const ptx::Function&, const ptx::Instruction& in) {
  using Step = BarrierUse::Step;
  BarrierUse out;
  out.of = in.mods.has(Mod::warp) ? BarrierUse::Of::warp : BarrierUse::Of::block;
  out.aligned = in.opcode == Opcode::bar || in.mods.has(Mod::aligned);
  if (in.mods.has(Mod::arrive)) out.step = Step::arrive;
  if (in.mods.has(Mod::red))
    out.step = in.mods.has(Mod::popc)   ? Step::red_popc
               : in.mods.has(Mod::and_) ? Step::red_and
                                        : Step::red_or;
  return out;
}

Detail cluster_barrier(const ptx::Function&, const ptx::Instruction& in) {
  BarrierUse out;
  const bool arrives = in.opcode == Opcode::barrier_cluster_arrive;
  out.of = BarrierUse::Of::cluster;
  out.step = arrives ? BarrierUse::Step::arrive : BarrierUse::Step::wait;
  out.aligned = in.mods.has(Mod::aligned);
  out.order = order_of(in.mods, arrives ? Order::release : Order::acquire);
  return out;
}

template <check::Collective::Kind kind>
Detail collective(const ptx::Function&, const ptx::Instruction&) {
  return CollectiveUse{kind};
}

// --- mbarriers ---

template <check::MbarrierOp::Op op>
Detail mbarrier(const ptx::Function&, const ptx::Instruction& in) {
  using Op = check::MbarrierOp::Op;
  constexpr bool waits = op == Op::test_wait || op == Op::try_wait;
  MbarrierUse out;
  out.op = op;
  out.expects_bytes = in.mods.has(Mod::expect_tx);
  out.no_complete = in.mods.has(Mod::noComplete);
  out.by_parity = in.mods.has(Mod::parity);
  out.no_inc = in.mods.has(Mod::noinc);
  out.order = order_of(in.mods, waits ? Order::acquire : Order::release);
  // PTX's default is .cta. CUTLASS's multicast pipelines hand buffers from block to block with it,
  // and chips order them: what is not said counts as wide enough.
  out.scope = scope_of(in.mods, Scope::cluster);
  return out;
}

// --- copies ---

using async::ReduceOp;
using async::TensorType;

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

Detail thread_copy(const ptx::Function& function, const ptx::Instruction& in) {
  CopyUse out;
  out.completion = Completion::thread_group;
  out.own_only = in.space(0) != Space::shared_cluster;
  out.bytes = static_cast<std::uint8_t>(constant(function, in, 2).value_or(0));
  return out;
}

void reduction(const ptx::Instruction& in, CopyUse& out) {
  const auto operation = meaning(in.mods, operations);
  out.reduces = operation.has_value();
  out.reduction.operation = operation.value_or(ReduceOp::add);
  out.reduction.type = element_type_of(in.type()).value_or(TensorType::u8);
}

Detail bulk_copy(const ptx::Function&, const ptx::Instruction& in) {
  CopyUse out;
  out.prefetch = in.opcode == Opcode::cp_async_bulk_prefetch ||
                 in.opcode == Opcode::cp_async_bulk_prefetch_tensor;
  out.own_only = in.space(0) == Space::shared_cta;
  out.multicast = in.mods.has(Mod::multicast_cluster);
  out.masked = in.mods.has(Mod::cp_mask);
  const bool store = in.space(0) == Space::global && !out.prefetch;
  out.completion =
      in.mods.has(Mod::bulk_group) || store ? Completion::bulk_group : Completion::transaction;
  out.rank = meaning(in.mods, ranks).value_or(0);
  out.im2col = in.mods.has(Mod::im2col) || in.mods.has(Mod::im2col_no_offs);
  reduction(in, out);
  return out;
}

Detail tensor_copy(const ptx::Function& function, const ptx::Instruction& in) {
  Detail made = bulk_copy(function, in);
  std::get<CopyUse>(made).of = CopyUse::Of::tensor;
  return made;
}

Detail async_store(const ptx::Function&, const ptx::Instruction& in) {
  CopyUse out;
  out.of = CopyUse::Of::values;
  out.count = in.vector;
  out.bytes = static_cast<std::uint8_t>(ptx::size_of(in.type()));
  if (in.opcode == Opcode::red_async) reduction(in, out);
  return out;
}

template <Completion completion>
Detail commit(const ptx::Function&, const ptx::Instruction&) {
  return GroupUse{.completion = completion};
}
template <Completion completion>
Detail wait_group(const ptx::Function& function, const ptx::Instruction& in) {
  return GroupUse{.completion = completion,
                  .waits = true,
                  .allowed = static_cast<std::uint32_t>(constant(function, in, 0).value_or(0)),
                  .read_only = in.mods.has(Mod::read)};
}
Detail wait_all(const ptx::Function&, const ptx::Instruction&) {
  return GroupUse{.waits = true, .allowed = check::CopyWaited::all_copies};
}

Detail matrix(const ptx::Function&, const ptx::Instruction& in) {
  return MatrixUse{static_cast<std::uint8_t>(matrices(in.mods)), in.mods.has(Mod::trans)};
}

// --- wgmma ---

Detail multiply(const ptx::Function& function, const ptx::Instruction& in) {
  return wgmma_use(function, in);
}
template <WgmmaGroupUse::Step step>
Detail multiply_group(const ptx::Function& function, const ptx::Instruction& in) {
  return WgmmaGroupUse{step, static_cast<std::uint32_t>(constant(function, in, 0).value_or(0))};
}

// --- tensormap.replace ---

using async::TensorMapField;

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

// Nothing: a field that sm_90 has not.
Detail map_field(const ptx::Instruction& in) {
  for (const auto& [mod, use] : fields)
    if (in.mods.has(mod)) return use;
  return {};
}

// Programs of PTX ISA before 8.5 give strides in units of 16 bytes.
bool old_strides(const ptx::Module& m) {
  return m.version_major < 8 || (m.version_major == 8 && m.version_minor < 5);
}

// --- textures and surfaces ---

using texture::Geometry;
using texture::Query;

constexpr Means<Geometry> geometries[] = {
    {Mod::_1d, Geometry::line},    {Mod::_2d, Geometry::plane},  {Mod::_3d, Geometry::volume},
    {Mod::a1d, Geometry::lines},   {Mod::a2d, Geometry::planes}, {Mod::cube, Geometry::cube},
    {Mod::acube, Geometry::cubes},
};
constexpr Means<texture::Outside> boundaries[] = {{Mod::trap, texture::Outside::trap},
                                                  {Mod::clamp, texture::Outside::clamp},
                                                  {Mod::zero, texture::Outside::zero}};
constexpr Means<std::int8_t> components[] = {{Mod::r, 0}, {Mod::g, 1}, {Mod::b, 2}, {Mod::a, 3}};
constexpr Means<Query> queries[] = {
    {Mod::width, Query::width},
    {Mod::height, Query::height},
    {Mod::depth, Query::depth},
    {Mod::channel_data_type, Query::channel_data_type},
    {Mod::channel_order, Query::channel_order},
    {Mod::normalized_coords, Query::normalized_coords},
    {Mod::force_unnormalized_coords, Query::force_unnormalized_coords},
    {Mod::filter_mode, Query::filter_mode},
    {Mod::addr_mode_0, Query::addr_mode_0},
    {Mod::addr_mode_1, Query::addr_mode_1},
    {Mod::addr_mode_2, Query::addr_mode_2},
    {Mod::array_size, Query::array_size},
    {Mod::num_mipmap_levels, Query::num_mipmap_levels},
    {Mod::num_samples, Query::num_samples},
    {Mod::memory_layout, Query::memory_layout},
};

// Nothing, of these and the next: the form names no shape that is supported.
Detail texture_read(const ptx::Function&, const ptx::Instruction& in) {
  const auto geometry = meaning(in.mods, geometries);
  if (!geometry) return {};
  TextureUse use;
  use.how.geometry = *geometry;
  if (in.mods.has(Mod::level)) use.how.lod = texture::Lod::level;
  if (in.mods.has(Mod::grad)) use.how.lod = texture::Lod::grad;
  use.how.integer = in.type(1) == Type::s32;
  if (in.opcode == Opcode::tld4) use.how.gather = meaning(in.mods, components).value_or(0);
  use.result = in.type(0);
  return use;
}

template <check::Access::Kind kind>
Detail surface_access(const ptx::Function&, const ptx::Instruction& in) {
  const auto geometry = meaning(in.mods, geometries);
  if (!geometry) return {};
  SurfaceUse use;
  use.kind = kind;
  use.type = in.type();
  use.count = in.vector;
  use.access = {*geometry, meaning(in.mods, boundaries).value_or(texture::Outside::trap),
                in.mods.has(Mod::p), ptx::size_of(in.type()) * in.vector};
  return use;
}

Detail texture_query(const ptx::Function&, const ptx::Instruction& in) {
  const auto query = meaning(in.mods, queries);
  if (!query) return {};
  return TextureQueryUse{*query, in.opcode == Opcode::suq};
}

struct Maker {
  Opcode opcode;
  Detail (*make)(const ptx::Function&, const ptx::Instruction&);
};
using Kind = check::Collective::Kind;
using Op = check::MbarrierOp::Op;
constexpr Maker makers[] = {
    {Opcode::fence, fence},
    {Opcode::membar, membar},
    {Opcode::fence_proxy, fence_proxy},
    {Opcode::fence_mbarrier_init, fence_mbarrier_init},
    {Opcode::tensormap_cp_fenceproxy, map_copy},
    {Opcode::bar, barrier},
    {Opcode::barrier, barrier},
    {Opcode::barrier_cluster_arrive, cluster_barrier},
    {Opcode::barrier_cluster_wait, cluster_barrier},
    {Opcode::shfl, collective<Kind::shuffle>},
    {Opcode::vote, collective<Kind::vote>},
    {Opcode::match, collective<Kind::match>},
    {Opcode::redux, collective<Kind::reduce>},
    {Opcode::elect, collective<Kind::elect>},
    {Opcode::activemask, collective<Kind::activemask>},
    {Opcode::mbarrier_init, mbarrier<Op::init>},
    {Opcode::mbarrier_inval, mbarrier<Op::inval>},
    {Opcode::mbarrier_arrive, mbarrier<Op::arrive>},
    {Opcode::mbarrier_arrive_drop, mbarrier<Op::arrive_drop>},
    {Opcode::mbarrier_expect_tx, mbarrier<Op::expect_tx>},
    {Opcode::mbarrier_complete_tx, mbarrier<Op::complete_tx>},
    {Opcode::mbarrier_test_wait, mbarrier<Op::test_wait>},
    {Opcode::mbarrier_try_wait, mbarrier<Op::try_wait>},
    {Opcode::mbarrier_pending_count, mbarrier<Op::pending_count>},
    {Opcode::cp_async_mbarrier_arrive, mbarrier<Op::async_arrive>},
    {Opcode::cp_async, thread_copy},
    {Opcode::cp_async_bulk, bulk_copy},
    {Opcode::cp_reduce_async_bulk, bulk_copy},
    {Opcode::cp_async_bulk_prefetch, bulk_copy},
    {Opcode::cp_async_bulk_tensor, tensor_copy},
    {Opcode::cp_reduce_async_bulk_tensor, tensor_copy},
    {Opcode::cp_async_bulk_prefetch_tensor, tensor_copy},
    {Opcode::st_async, async_store},
    {Opcode::red_async, async_store},
    {Opcode::cp_async_commit_group, commit<Completion::thread_group>},
    {Opcode::cp_async_wait_group, wait_group<Completion::thread_group>},
    {Opcode::cp_async_wait_all, wait_all},
    {Opcode::cp_async_bulk_commit_group, commit<Completion::bulk_group>},
    {Opcode::cp_async_bulk_wait_group, wait_group<Completion::bulk_group>},
    {Opcode::ldmatrix, matrix},
    {Opcode::stmatrix, matrix},
    {Opcode::movmatrix, matrix},
    {Opcode::mma, tensor_use},
    {Opcode::mma_sp, tensor_use},
    {Opcode::wmma_load, tensor_use},
    {Opcode::wmma_store, tensor_use},
    {Opcode::wmma_mma, tensor_use},
    {Opcode::wgmma_mma_async, multiply},
    {Opcode::wgmma_mma_async_sp, multiply},
    {Opcode::wgmma_fence, multiply_group<WgmmaGroupUse::Step::fence>},
    {Opcode::wgmma_commit_group, multiply_group<WgmmaGroupUse::Step::commit>},
    {Opcode::wgmma_wait_group, multiply_group<WgmmaGroupUse::Step::wait>},
    {Opcode::tex, texture_read},
    {Opcode::tld4, texture_read},
    {Opcode::suld, surface_access<check::Access::Kind::load>},
    {Opcode::sust, surface_access<check::Access::Kind::store>},
    {Opcode::sured, surface_access<check::Access::Kind::reduction>},
    {Opcode::txq, texture_query},
    {Opcode::suq, texture_query},
};

}  // namespace

Order order_of(const ModSet& mods, Order otherwise) {
  return meaning(mods, orders).value_or(otherwise);
}
Scope scope_of(const ModSet& mods, Scope otherwise) {
  return meaning(mods, scopes).value_or(otherwise);
}
std::optional<TensorType> element_type_of(Type type) {
  for (const auto& each : element_types)
    if (type == each.ptx) return each.type;
  return {};
}
unsigned matrices(const ModSet& mods) { return mods.has(Mod::x4) ? 4 : mods.has(Mod::x2) ? 2 : 1; }

Detail detail_of(const ptx::Module& module, const ptx::Function& function,
                 const ptx::Instruction& in) {
  if (in.opcode == Opcode::tensormap_replace) {
    Detail made = map_field(in);
    if (auto* use = std::get_if<MapFieldUse>(&made))
      use->in_sixteenths = use->field == TensorMapField::global_stride && old_strides(module);
    return made;
  }
  static const auto by_opcode = [] {
    std::array<decltype(Maker::make), static_cast<std::size_t>(Opcode::count_)> table{};
    for (const Maker& m : makers) table[static_cast<std::size_t>(m.opcode)] = m.make;
    return table;
  }();
  const auto make = by_opcode[static_cast<std::size_t>(in.opcode)];
  return make ? make(function, in) : Detail{};
}

}  // namespace inflight::machine
