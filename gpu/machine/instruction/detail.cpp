// One function for each kind of instruction that has a Detail.
#include "gpu/machine/instruction/detail.hpp"

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <variant>

#include "gpu/machine/instruction/copy_detail.hpp"
#include "gpu/machine/instruction/modifiers.hpp"
#include "gpu/machine/instruction/tensor_detail.hpp"
#include "gpu/machine/instruction/texture_detail.hpp"
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
  // PROXY::generic orders accesses of PROXY before later generic ones if it acquires, and generic
  // accesses before later ones of PROXY if it releases.
  const Proxy other = in.mods.has(Mod::tensormap_generic) ? Proxy::tensormap
                      : in.mods.has(Mod::async_generic)   ? Proxy::async
                                                          : Proxy::generic;
  if (other != Proxy::generic) out.to = other;
  return out;
}

// The fence that tensormap.cp_fenceproxy includes.
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
Detail collective(const ptx::Function&, const ptx::Instruction& in) {
  return CollectiveUse{kind, in.mods.has(Mod::sync)};
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
  // and chips order those accesses. So an unnamed scope counts as .cluster.
  out.scope = scope_of(in.mods, Scope::cluster);
  out.unscoped = scope_of(in.mods, Scope::cta) != out.scope;
  return out;
}

// --- groups of copies ---

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
  using Format = MatrixUse::Format;
  MatrixUse out;
  out.count = static_cast<std::uint8_t>(matrices(in.mods));
  out.transposed = in.mods.has(Mod::trans);
  const bool bytes = in.type_count != 0 && in.type() == ptx::Type::b8;
  if (in.mods.has(Mod::b4x16_p64)) out.format = Format::b4, out.row_bytes = 8;
  if (in.mods.has(Mod::b6x16_p32)) out.format = Format::b6, out.row_bytes = 12;
  if (bytes) out.format = Format::b8;
  if (in.mods.has(Mod::m16n16)) out.rows = 16, out.registers = 2;
  return out;
}

// --- wgmma ---

Detail multiply(const ptx::Function& function, const ptx::Instruction& in) {
  return wgmma_use(function, in);
}
template <WgmmaGroupUse::Step step>
Detail multiply_group(const ptx::Function& function, const ptx::Instruction& in) {
  return WgmmaGroupUse{step, static_cast<std::uint32_t>(constant(function, in, 0).value_or(0))};
}

// --- tcgen05 ---

Detail tensor_memory_access(const ptx::Function&, const ptx::Instruction& in) {
  return tensor_memory_use(in);
}
Detail tensor_memory_copy(const ptx::Function&, const ptx::Instruction& in) {
  return tensor_memory_copy_use(in);
}
Detail block_multiply(const ptx::Function& function, const ptx::Instruction& in) {
  return block_multiply_use(function, in);
}

// --- atomics and register counts ---

constexpr Means<AtomicUse::Operation> atomic_operations[] = {
    {Mod::add, AtomicUse::Operation::add},
    {Mod::min, AtomicUse::Operation::min},
    {Mod::max, AtomicUse::Operation::max},
    {Mod::inc, AtomicUse::Operation::inc},
    {Mod::dec, AtomicUse::Operation::dec},
    {Mod::and_, AtomicUse::Operation::bit_and},
    {Mod::or_, AtomicUse::Operation::bit_or},
    {Mod::xor_, AtomicUse::Operation::bit_xor},
    {Mod::exch, AtomicUse::Operation::exchange},
    {Mod::cas, AtomicUse::Operation::compare_and_swap}};

Detail atomic(const ptx::Function&, const ptx::Instruction& in) {
  const auto operation = meaning(in.mods, atomic_operations);
  if (!operation) return {};
  return AtomicUse{*operation, in.type(), in.vector};
}

Detail register_count(const ptx::Function& function, const ptx::Instruction& in) {
  return RegisterCountUse{static_cast<std::uint32_t>(constant(function, in, 0).value_or(0)),
                          in.mods.has(Mod::inc)};
}

// --- the table ---

struct Maker {
  std::size_t kind;  // index in Detail
  Detail (*make)(const ptx::Module&, const ptx::Function&, const ptx::Instruction&);
};

template <class T>
constexpr std::size_t index_of = [] {
  std::size_t index = 0;
  const auto find = [&]<class... All>(std::variant<All...>*) {
    static_cast<void>(((std::is_same_v<T, All> ? false : (++index, true)) && ...));
  };
  find(static_cast<Detail*>(nullptr));
  return index;
}();

template <class T, Detail (*make)(const ptx::Function&, const ptx::Instruction&)>
constexpr Maker makes = {
    index_of<T>, [](const ptx::Module&, const ptx::Function& function, const ptx::Instruction& in) {
      return make(function, in);
    }};

// The values of the column `detail`.
namespace makers {
using Kind = check::Collective::Kind;
using Op = check::MbarrierOp::Op;
using Step = WgmmaGroupUse::Step;
constexpr Maker plain = {index_of<std::monostate>, nullptr};
constexpr Maker fence = makes<Fence, machine::fence>;
constexpr Maker membar = makes<Fence, machine::membar>;
constexpr Maker fence_proxy = makes<Fence, machine::fence_proxy>;
constexpr Maker fence_mbarrier_init = makes<Fence, machine::fence_mbarrier_init>;
constexpr Maker map_copy = makes<Fence, machine::map_copy>;
constexpr Maker barrier = makes<BarrierUse, machine::barrier>;
constexpr Maker cluster_barrier = makes<BarrierUse, machine::cluster_barrier>;
constexpr Maker shuffle = makes<CollectiveUse, collective<Kind::shuffle>>;
constexpr Maker vote = makes<CollectiveUse, collective<Kind::vote>>;
constexpr Maker match = makes<CollectiveUse, collective<Kind::match>>;
constexpr Maker reduce = makes<CollectiveUse, collective<Kind::reduce>>;
constexpr Maker elect = makes<CollectiveUse, collective<Kind::elect>>;
constexpr Maker activemask = makes<CollectiveUse, collective<Kind::activemask>>;
constexpr Maker mbarrier_init = makes<MbarrierUse, mbarrier<Op::init>>;
constexpr Maker mbarrier_inval = makes<MbarrierUse, mbarrier<Op::inval>>;
constexpr Maker mbarrier_arrive = makes<MbarrierUse, mbarrier<Op::arrive>>;
constexpr Maker mbarrier_arrive_drop = makes<MbarrierUse, mbarrier<Op::arrive_drop>>;
constexpr Maker mbarrier_expect_tx = makes<MbarrierUse, mbarrier<Op::expect_tx>>;
constexpr Maker mbarrier_complete_tx = makes<MbarrierUse, mbarrier<Op::complete_tx>>;
constexpr Maker mbarrier_test_wait = makes<MbarrierUse, mbarrier<Op::test_wait>>;
constexpr Maker mbarrier_try_wait = makes<MbarrierUse, mbarrier<Op::try_wait>>;
constexpr Maker mbarrier_pending_count = makes<MbarrierUse, mbarrier<Op::pending_count>>;
constexpr Maker mbarrier_async_arrive = makes<MbarrierUse, mbarrier<Op::async_arrive>>;
constexpr Maker thread_copy = makes<CopyUse, thread_copy_use>;
constexpr Maker bulk_copy = makes<CopyUse, bulk_copy_use>;
constexpr Maker tensor_copy = makes<CopyUse, tensor_copy_use>;
constexpr Maker async_store = makes<CopyUse, async_store_use>;
constexpr Maker cancel = makes<CopyUse, cancel_use>;
constexpr Maker commit_threads = makes<GroupUse, commit<Completion::thread_group>>;
constexpr Maker commit_bulk = makes<GroupUse, commit<Completion::bulk_group>>;
constexpr Maker wait_threads = makes<GroupUse, wait_group<Completion::thread_group>>;
constexpr Maker wait_bulk = makes<GroupUse, wait_group<Completion::bulk_group>>;
constexpr Maker wait_all = makes<GroupUse, machine::wait_all>;
constexpr Maker matrix = makes<MatrixUse, machine::matrix>;
constexpr Maker tensor = makes<TensorUse, tensor_use>;
constexpr Maker multiply = makes<WgmmaUse, machine::multiply>;
constexpr Maker multiply_fence = makes<WgmmaGroupUse, multiply_group<Step::fence>>;
constexpr Maker multiply_commit = makes<WgmmaGroupUse, multiply_group<Step::commit>>;
constexpr Maker multiply_wait = makes<WgmmaGroupUse, multiply_group<Step::wait>>;
constexpr Maker tensor_memory_access = makes<TensorMemoryUse, machine::tensor_memory_access>;
constexpr Maker tensor_memory_copy = makes<TensorMemoryCopyUse, machine::tensor_memory_copy>;
constexpr Maker block_multiply = makes<BlockMultiplyUse, machine::block_multiply>;
constexpr Maker map_field = {index_of<MapFieldUse>,
                             [](const ptx::Module& module, const ptx::Function&,
                                const ptx::Instruction& in) { return map_field_use(module, in); }};
constexpr Maker texture_read = makes<TextureUse, texture_read_use>;
constexpr Maker texture_query = makes<TextureQueryUse, texture_query_use>;
constexpr Maker surface = makes<SurfaceUse, surface_use>;
constexpr Maker atomic = makes<AtomicUse, machine::atomic>;
constexpr Maker register_count = makes<RegisterCountUse, machine::register_count>;
}  // namespace makers

// A row that lacks a column, or names no maker, does not compile.
constexpr Maker makers_by_opcode[] = {
#define OPCODE(name, text, family, written, control, memory, effect, detail) makers::detail,
#include "gpu/ptx/opcodes.def"
#undef OPCODE
};
static_assert(std::size(makers_by_opcode) == static_cast<std::size_t>(Opcode::count_));

// --- which opcodes need a detail ---

// Is it what readers of the description rely on for an opcode with these facts?
constexpr bool suits(const Facts& row, std::size_t kind) {
  const auto is = [kind]<class... T>(std::type_identity<T>...) {
    return ((kind == index_of<T>) || ...);
  };
  if (row.memory == MemoryRole::copy) return is(std::type_identity<CopyUse>{});
  if (row.memory == MemoryRole::mbarrier) return is(std::type_identity<MbarrierUse>{});
  switch (row.family) {
    case Family::fence:
      return is(std::type_identity<Fence>{});
    case Family::barrier:
      return is(std::type_identity<BarrierUse>{});
    case Family::collective:
      return is(std::type_identity<CollectiveUse>{});
    case Family::mbarrier:
      return is(std::type_identity<MbarrierUse>{});
    case Family::atomic:
      return is(std::type_identity<AtomicUse>{});
    case Family::matrix:
      return is(std::type_identity<MatrixUse>{});
    case Family::texture:
      return is(std::type_identity<TextureUse>{}, std::type_identity<TextureQueryUse>{},
                std::type_identity<SurfaceUse>{});
    case Family::copy:
    case Family::tensor_copy:
    case Family::async_store:
      return is(std::type_identity<CopyUse>{}, std::type_identity<GroupUse>{});
    case Family::bulk_copy:  // st.bulk is a store
      return is(std::type_identity<CopyUse>{}, std::type_identity<GroupUse>{}) ||
             row.memory == MemoryRole::store;
    case Family::tensor_map:
      return is(std::type_identity<MapFieldUse>{}, std::type_identity<Fence>{});
    case Family::tensor_core:  // other: wgmma and tcgen05
      return row.effect == Effect::other || is(std::type_identity<TensorUse>{});
    case Family::grid_control:
      return is(std::type_identity<std::monostate>{});
    case Family::system:
      return is(std::type_identity<std::monostate>{}, std::type_identity<RegisterCountUse>{});
    case Family::integer:
    case Family::bits:
    case Family::floating:
    case Family::compare:
    case Family::convert:
    case Family::move:
    case Family::load:
    case Family::store:
    case Family::branch:
    case Family::call:
    case Family::cache:
    case Family::stack:
    case Family::video:
    case Family::multimem:
    case Family::unknown:
      return is(std::type_identity<std::monostate>{});
  }
  return false;
}
constexpr bool all_suit() {
  for (std::size_t o = 0; o < std::size(makers_by_opcode); ++o)
    if (!suits(all_facts[o], makers_by_opcode[o].kind)) return false;
  return true;
}
static_assert(all_suit());

}  // namespace

Order order_of(const ModSet& mods, Order otherwise) {
  return meaning(mods, orders).value_or(otherwise);
}
Scope scope_of(const ModSet& mods, Scope otherwise) {
  return meaning(mods, scopes).value_or(otherwise);
}
unsigned matrices(const ModSet& mods) { return mods.has(Mod::x4) ? 4 : mods.has(Mod::x2) ? 2 : 1; }

Detail detail_of(const ptx::Module& module, const ptx::Function& function,
                 const ptx::Instruction& in) {
  const auto make = makers_by_opcode[static_cast<std::size_t>(in.opcode)].make;
  return make ? make(module, function, in) : Detail{};
}

}  // namespace inflight::machine
