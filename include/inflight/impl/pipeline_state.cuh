// A block's pipeline in shared memory: its mbarriers, and each thread's position in the ring of
// stages.
#pragma once
#include <inflight/impl/mbarrier_wait.cuh>
#include <inflight/ptx/address.cuh>
#include <inflight/ptx/mbarrier.cuh>
#include <inflight/ptx/memory.cuh>

namespace inflight {

struct transaction_bytes;
template <thread_scope Scope, int Stages>
class pipeline_shared_state;

namespace impl {

// A thread's position in the ring: the next stage, and the parity of the round.
struct pipeline_cursor {
  int stage = 0;
  std::uint32_t parity = 0;
  INFLIGHT_DEVICE void advance(int stages) {
    if (++stage == stages) stage = 0, parity ^= 1;
  }
};

// A thread's view of the ring of `stages`. Every function takes `stages` as an argument, so that it
// is a constant if the pipeline's type states it.
struct pipeline_ring {
  // Shared address of full[0]; empty[0] follows full[stages - 1], and the users empty[stages - 1].
  std::uint32_t state;
  pipeline_cursor head{}, tail{};

  INFLIGHT_DEVICE std::uint32_t full(const pipeline_cursor& at) const {
    return state + 8 * at.stage;
  }
  INFLIGHT_DEVICE std::uint32_t empty(const pipeline_cursor& at, int stages) const {
    return state + 8 * (stages + at.stage);
  }
  // In the first round no stage needs a release: the phase before the first counts as complete.
  INFLIGHT_DEVICE void acquire(int stages) const {
    wait_parity(empty(head, stages), head.parity ^ 1);
  }
  INFLIGHT_DEVICE void wait() const { wait_parity(full(tail), tail.parity); }
  INFLIGHT_DEVICE bool is_full() const {
    return ptx::mbarrier_test_wait_parity(full(tail), tail.parity);
  }
  // Every consumer arrives: 32 lanes take no longer than one, and need no __syncwarp.
  INFLIGHT_DEVICE void release(int stages) {
    ptx::mbarrier_arrive(empty(tail, stages));
    tail.advance(stages);
  }
  // Returns whether all others have left before; then ends the mbarriers' life.
  INFLIGHT_DEVICE bool leave(int stages) const {
    auto* users = static_cast<std::uint32_t*>(__cvta_shared_to_generic(state + 16 * stages));
    if (ptx::atom_add_acq_rel<ptx::scope::cta>(users, ~0u) != 1) return false;
    for (int i = 0; i < 2 * stages; ++i) ptx::mbarrier_inval(state + 8 * i);
    return true;
  }
};

// Initialises the mbarriers for these numbers of arrivals a stage. One thread calls it.
template <int Stages>
INFLIGHT_DEVICE void init_stages(pipeline_shared_state<thread_scope_block, Stages>* state,
                                 unsigned producers, unsigned consumers, unsigned users) {
  state->users = users;
  for (int i = 0; i < Stages; ++i) {
    ptx::mbarrier_init(ptx::shared_address(&state->full[i]), producers);
    ptx::mbarrier_init(ptx::shared_address(&state->empty[i]), consumers);
  }
  publish_mbarriers();
}

template <class Completion>
inline constexpr bool by_bytes = std::is_same_v<Completion, transaction_bytes>;

// Every thread produces and consumes.
template <class Completion, class Group, int Stages>
INFLIGHT_DEVICE pipeline_ring set_up(const Group& group,
                                     pipeline_shared_state<thread_scope_block, Stages>* state) {
  const unsigned threads = unsigned(group.size());
  if (group.thread_rank() == 0)
    init_stages(state, by_bytes<Completion> ? 1 : threads, threads, threads);
  group.sync();
  return {ptx::shared_address(state->full)};
}

// First counts the producers, in the memory of the first mbarrier.
template <class Completion, class Group, int Stages>
INFLIGHT_DEVICE pipeline_ring set_up(const Group& group,
                                     pipeline_shared_state<thread_scope_block, Stages>* state,
                                     bool produces) {
  auto* producers = reinterpret_cast<unsigned*>(state->full);
  if (group.thread_rank() == 0) *producers = 0;
  group.sync();
  if (produces) atomicAdd(producers, 1u);
  group.sync();
  if (group.thread_rank() == 0) {
    const unsigned count = *producers, threads = unsigned(group.size());
    init_stages(state, by_bytes<Completion> ? 1 : count, threads - count, threads);
  }
  group.sync();
  return {ptx::shared_address(state->full)};
}

}  // namespace impl
}  // namespace inflight
