// membar and fence (PTX ISA, "membar, fence").
//
// The host keeps loads in order with loads and stores with stores, so only sequential consistency
// past the block costs an instruction: the threads of a block run on one host thread.
#include <atomic>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;

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

bool lower_fence(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::sc, Mod::acq_rel, Mod::acquire, Mod::release, Mod::cta, Mod::cluster,
                 Mod::gpu, Mod::sys}))
    return false;
  // Without an order it is .acq_rel.
  return emit(lo, lo.in.mods.has(Mod::sc) && !lo.in.mods.has(Mod::cta));
}

bool lower_membar(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::cta, Mod::gl, Mod::sys})) return false;
  return emit(lo, !lo.in.mods.has(Mod::cta));
}

// Every access is made by one proxy of the host until there are bulk copies: a full fence is more
// than is asked for.
bool lower_proxy(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::alias, Mod::async})) return false;
  return emit(lo, true);
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
