// membar, fence and fence.proxy (PTX ISA, "membar, fence").
//
// The host keeps loads ordered with loads and stores with stores, and the threads of a block run on
// one host thread. So only sequential consistency beyond the block needs a host fence.
#include <atomic>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Space;

const Op* order(Warp&, const Op* op) {
  std::atomic_thread_fence(std::memory_order_acq_rel);
  return op + 1;
}
const Op* order_all(Warp&, const Op* op) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return op + 1;
}

bool emit(Lowering& lo, bool past_block) {
  lo.emit(past_block ? order_all : order);
  return true;
}

constexpr ModSet scopes{Mod::cta, Mod::cluster, Mod::gpu, Mod::sys};
constexpr ModSet restrictions{Mod::sync_restrict_shared_cta, Mod::sync_restrict_shared_cluster};

// Whether this is a form that `.sync_restrict` has: of .cluster scope, an acquire restricted to
// .shared::cluster or a release restricted to .shared::cta.
bool restricted_well(const ModSet& mods) {
  const bool acquires = mods.has(Mod::acquire) && mods.has(Mod::sync_restrict_shared_cluster);
  const bool releases = mods.has(Mod::release) && mods.has(Mod::sync_restrict_shared_cta);
  return acquires != releases && mods.has(Mod::cluster);
}
bool check_restriction(Lowering& lo) {
  if (lo.in.mods.without(restrictions) == lo.in.mods || restricted_well(lo.in.mods)) return true;
  return lo.refuse(
      "a fence is .acquire.sync_restrict::shared::cluster.cluster or "
      ".release.sync_restrict::shared::cta.cluster");
}

bool lower_fence(Lowering& lo, const Row&) {
  const ModSet orders{Mod::sc, Mod::acq_rel, Mod::acquire, Mod::release};
  if (!only(lo, orders | scopes | restrictions) || !check_restriction(lo)) return false;
  const auto& fence = *lo.what.as<Fence>();
  return emit(lo, fence.order == check::Order::seq_cst && fence.scope != check::Scope::cta);
}

bool lower_membar(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::cta, Mod::gl, Mod::sys, Mod::proxy, Mod::alias})) return false;
  return emit(lo, lo.what.as<Fence>()->scope != check::Scope::cta);
}

// --- fence.proxy: a full fence is stronger than any of them ---

// fence.proxy.{alias, async}, the latter optionally for one state space
bool lower_two_way(Lowering& lo) {
  const bool async = lo.in.mods.has(Mod::async);
  if (!only(lo, {Mod::alias, Mod::async})) return false;
  if (async == lo.in.mods.has(Mod::alias)) return lo.refuse("fence.proxy needs one kind of proxy");
  if (lo.in.space_count > (async ? 1 : 0)) return lo.refuse("it names too many state spaces");
  if (async && lo.in.space_count == 1) {
    const Space space = lo.in.space();
    if (space != Space::global && space != Space::shared_cta && space != Space::shared_cluster)
      return lo.refuse("the async proxy applies to .global, .shared::cta or .shared::cluster");
  }
  return lo.operands.empty() ? emit(lo, true) : lo.refuse("it takes no operands");
}

// fence.proxy.tensormap::generic.release.scope, ...acquire.scope [map], 128
bool lower_tensormap(Lowering& lo) {
  if (!only(lo, ModSet{Mod::tensormap_generic, Mod::acquire, Mod::release} | scopes)) return false;
  const bool acquires = lo.in.mods.has(Mod::acquire);
  if (acquires == lo.in.mods.has(Mod::release)) return lo.refuse("it needs .acquire or .release");
  if (lo.in.mods.without(scopes) == lo.in.mods) return lo.refuse("it needs a scope");
  if (!acquires) return lo.operands.empty() ? emit(lo, true) : lo.refuse("it takes no operands");
  const auto o = lo.operands;
  constexpr std::int64_t map_bytes = 128;
  Op unused;
  if (o.size() != 2 || !lo.is_constant(o[1]) || lo.constant(o[1]) != map_bytes)
    return lo.refuse("it takes an address and the size 128");
  return lo.address(o[0], unused) && emit(lo, true);
}

// fence.proxy.async::generic.{acquire, release}.sync_restrict::....cluster
bool lower_async_generic(Lowering& lo) {
  const ModSet known{Mod::async_generic, Mod::acquire, Mod::release, Mod::cluster};
  if (!only(lo, known | restrictions)) return false;
  if (lo.in.mods.without(restrictions) == lo.in.mods) return lo.refuse("it needs .sync_restrict");
  return check_restriction(lo) && emit(lo, true);
}

bool lower_proxy(Lowering& lo, const Row&) {
  if (lo.in.mods.has(Mod::tensormap_generic)) return lower_tensormap(lo);
  if (lo.in.mods.has(Mod::async_generic)) return lower_async_generic(lo);
  return lower_two_way(lo);
}

// mbarrier.init is an ordinary store here.
bool lower_mbarrier_init(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::release, Mod::cluster})) return false;
  return emit(lo, true);
}

}  // namespace

void fence_rows(Rows& rows) {
  add(rows, any_form(Opcode::fence, lower_fence));
  add(rows, any_form(Opcode::membar, lower_membar));
  add(rows, any_form(Opcode::fence_proxy, lower_proxy));
  add(rows, any_form(Opcode::fence_mbarrier_init, lower_mbarrier_init));
}

}  // namespace inflight::machine
