// One function for each kind of instruction that has a Detail.
#include "gpu/machine/instruction/detail.hpp"

#include <array>

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
  // and chips order those accesses. So an unnamed scope counts as .cluster.
  out.scope = scope_of(in.mods, Scope::cluster);
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
    {Opcode::tcgen05_commit, mbarrier<Op::async_arrive>},
    {Opcode::cp_async, thread_copy_use},
    {Opcode::cp_async_bulk, bulk_copy_use},
    {Opcode::cp_reduce_async_bulk, bulk_copy_use},
    {Opcode::cp_async_bulk_prefetch, bulk_copy_use},
    {Opcode::cp_async_bulk_tensor, tensor_copy_use},
    {Opcode::cp_reduce_async_bulk_tensor, tensor_copy_use},
    {Opcode::cp_async_bulk_prefetch_tensor, tensor_copy_use},
    {Opcode::st_async, async_store_use},
    {Opcode::clusterlaunchcontrol_try_cancel, cancel_use},
    {Opcode::red_async, async_store_use},
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
    {Opcode::tex, texture_read_use},
    {Opcode::tld4, texture_read_use},
    {Opcode::suld, surface_use},
    {Opcode::sust, surface_use},
    {Opcode::sured, surface_use},
    {Opcode::txq, texture_query_use},
    {Opcode::suq, texture_query_use},
};

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
  if (in.opcode == Opcode::tensormap_replace) return map_field_use(module, in);
  static const auto by_opcode = [] {
    std::array<decltype(Maker::make), static_cast<std::size_t>(Opcode::count_)> table{};
    for (const Maker& m : makers) table[static_cast<std::size_t>(m.opcode)] = m.make;
    return table;
  }();
  const auto make = by_opcode[static_cast<std::size_t>(in.opcode)];
  return make ? make(function, in) : Detail{};
}

}  // namespace inflight::machine
