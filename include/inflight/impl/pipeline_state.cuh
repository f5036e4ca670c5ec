// A block's pipeline: its mbarriers in shared memory, or counters elsewhere, and each thread's
// position in the ring of stages.
#pragma once
#include <inflight/impl/counted_barrier.cuh>
#include <inflight/impl/mbarrier_wait.cuh>
#include <inflight/impl/require.cuh>
#include <inflight/ptx/address.cuh>
#include <inflight/ptx/mbarrier.cuh>
#include <inflight/ptx/memory.cuh>

namespace inflight {

struct transaction_bytes;
template <thread_scope Scope, auto Stages>
class pipeline_shared_state;

namespace impl {

// A thread's position in the ring: the next stage, and the parity of the round.
struct pipeline_cursor {
  int stage = 0;
  std::uint32_t parity = 0;
  INFLIGHT_HOST_DEVICE void advance(int stages) {
    if (++stage == stages) stage = 0, parity ^= 1;
  }
};

// A thread's view of the ring of `stages`. Every function takes `stages` as an argument, so that it
// is a constant if the pipeline's type states it.
struct pipeline_ring {
  // Shared address of full[0], or 0 if they lie elsewhere; empty[0] follows full[stages - 1], and
  // the users empty[stages - 1].
  std::uint32_t state;
  pipeline_cursor head{}, tail{};
  // In other memory, and on the host, that address; each stage is then a word of a counted barrier.
  // Else null, which the compiler knows where it knows the memory.
  std::uint64_t* words = nullptr;

// What a function returns, or does, on mbarriers.
#define INFLIGHT_IF_MBARRIERS(...) INFLIGHT_ON_DEVICE(if (words == nullptr) return __VA_ARGS__;)

  INFLIGHT_DEVICE std::uint32_t full(const pipeline_cursor& at) const {
    return state + 8 * at.stage;
  }
  INFLIGHT_DEVICE std::uint32_t empty(const pipeline_cursor& at, int stages) const {
    return state + 8 * (stages + at.stage);
  }
  // In the first round no stage needs a release: the phase before the first counts as complete.
  INFLIGHT_HOST_DEVICE void acquire(int stages) const {
    INFLIGHT_IF_MBARRIERS(wait_parity(empty(head, stages), head.parity ^ 1))
    wait_for_word(words + stages + head.stage, head.parity ^ 1);
  }
  INFLIGHT_HOST_DEVICE void wait() const {
    INFLIGHT_IF_MBARRIERS(wait_parity(full(tail), tail.parity))
    wait_for_word(words + tail.stage, tail.parity);
  }
  INFLIGHT_HOST_DEVICE bool is_full() const {
    INFLIGHT_IF_MBARRIERS(ptx::mbarrier_test_wait_parity(full(tail), tail.parity))
    return barrier_word::test_parity<thread_scope_block>(words + tail.stage, tail.parity);
  }
  // Every consumer arrives: 32 lanes take no longer than one, and need no __syncwarp.
  INFLIGHT_HOST_DEVICE void release(int stages) {
    arrive_on_empty(stages);
    tail.advance(stages);
  }
  // A producer arrives once its copies so far are done; and once what it stored is visible, too.
  INFLIGHT_HOST_DEVICE void fill() const {
    INFLIGHT_IF_MBARRIERS(ptx::cp_async_mbarrier_arrive_noinc(full(head)))
    fill_word();
  }
  INFLIGHT_HOST_DEVICE void fill_after_stores() const {
    INFLIGHT_IF_MBARRIERS(ptx::cp_async_mbarrier_arrive(full(head)),
                          static_cast<void>(ptx::mbarrier_arrive(full(head))))
    fill_word();
  }
  // Returns whether all others have left before; then ends the mbarriers' life.
  INFLIGHT_HOST_DEVICE bool leave(int stages) const {
    INFLIGHT_IF_MBARRIERS(leave_mbarriers(stages))
    auto* users = reinterpret_cast<std::uint32_t*>(words + 2 * stages);
    return add_acq_rel<thread_scope_block>(users, ~0u) == 1;
  }

 private:
  INFLIGHT_HOST_DEVICE static void arrive_on_word(std::uint64_t* word) {
    no_completion none;
    barrier_word::arrive<thread_scope_block>(word, 1, 0, none);
  }
  INFLIGHT_HOST_DEVICE static void wait_for_word(const std::uint64_t* word, std::uint32_t parity) {
    while (!barrier_word::test_parity<thread_scope_block>(word, parity)) barrier_word::pause();
  }
  INFLIGHT_HOST_DEVICE void arrive_on_empty(int stages) const {
    INFLIGHT_IF_MBARRIERS(static_cast<void>(ptx::mbarrier_arrive(empty(tail, stages))))
    arrive_on_word(words + stages + tail.stage);
  }
  INFLIGHT_HOST_DEVICE void fill_word() const {
    INFLIGHT_ON_DEVICE(ptx::cp_async_wait_all();)
    arrive_on_word(words + head.stage);
  }
  INFLIGHT_DEVICE bool leave_mbarriers(int stages) const {
    auto* users = static_cast<std::uint32_t*>(__cvta_shared_to_generic(state + 16 * stages));
    if (ptx::atom_add_acq_rel<ptx::scope::cta>(users, ~0u) != 1) return false;
    for (int i = 0; i < 2 * stages; ++i) ptx::mbarrier_inval(state + 8 * i);
    return true;
  }
#undef INFLIGHT_IF_MBARRIERS
};

// Initialises the stages for these numbers of arrivals. One thread calls it.
template <auto Stages>
INFLIGHT_DEVICE void init_mbarriers(pipeline_shared_state<thread_scope_block, Stages>* state,
                                    unsigned producers, unsigned consumers, unsigned users) {
  state->users = users;
  for (int i = 0; i < Stages; ++i) {
    ptx::mbarrier_init(ptx::shared_address(&state->full[i]), producers);
    ptx::mbarrier_init(ptx::shared_address(&state->empty[i]), consumers);
  }
  publish_mbarriers();
}
template <auto Stages>
INFLIGHT_HOST_DEVICE void init_stages(pipeline_shared_state<thread_scope_block, Stages>* state,
                                      unsigned producers, unsigned consumers, unsigned users) {
  INFLIGHT_ON_DEVICE(
      if (__isShared(state)) return init_mbarriers(state, producers, consumers, users);)
  store_release<thread_scope_block>(&state->users, users);
  for (int i = 0; i < Stages; ++i) {
    store_release<thread_scope_block>(&state->full[i], barrier_word::begin(producers));
    store_release<thread_scope_block>(&state->empty[i], barrier_word::begin(consumers));
  }
}

template <class Completion>
inline constexpr bool by_bytes = std::is_same_v<Completion, transaction_bytes>;

// A thread's view of the stages at its start.
template <class Completion, auto Stages>
INFLIGHT_HOST_DEVICE pipeline_ring
ring_of(pipeline_shared_state<thread_scope_block, Stages>* state) {
#if defined(__CUDA_ARCH__)
  // nvcc's compiler crashes if it sees the shared address of what it knows to lie elsewhere.
  const bool shared = __isShared(state);
  INFLIGHT_REQUIRE(!by_bytes<Completion> || shared,
                   "the state of a pipeline of transaction_bytes lies in shared memory");
  pipeline_ring ring{shared ? ptx::shared_address(state->full) : 0};
  ring.words = shared ? nullptr : state->full;
  return ring;
#else
  pipeline_ring ring{0};
  ring.words = state->full;
  return ring;
#endif
}

// Every thread produces and consumes.
INFLIGHT_CALLS_ARGUMENTS
template <class Completion, class Group, auto Stages>
INFLIGHT_HOST_DEVICE pipeline_ring
set_up(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state) {
  const unsigned threads = unsigned(group.size());
  if (group.thread_rank() == 0)
    init_stages(state, by_bytes<Completion> ? 1 : threads, threads, threads);
  group.sync();
  return ring_of<Completion>(state);
}

INFLIGHT_HOST_DEVICE void count_producer(unsigned* producers) {
  INFLIGHT_ON_DEVICE(if (!__isLocal(producers)) {
    atomicAdd(producers, 1u);
    return;
  })
  add_acq_rel<thread_scope_block>(producers, 1);
}

// First counts the producers, in the memory of the first stage.
INFLIGHT_CALLS_ARGUMENTS
template <class Completion, class Group, auto Stages>
INFLIGHT_HOST_DEVICE pipeline_ring set_up(const Group& group,
                                          pipeline_shared_state<thread_scope_block, Stages>* state,
                                          bool produces) {
  auto* producers = reinterpret_cast<unsigned*>(state->full);
  if (group.thread_rank() == 0) *producers = 0;
  group.sync();
  if (produces) count_producer(producers);
  group.sync();
  if (group.thread_rank() == 0) {
    const unsigned count = *producers, threads = unsigned(group.size());
    init_stages(state, by_bytes<Completion> ? 1 : count, threads - count, threads);
  }
  group.sync();
  return ring_of<Completion>(state);
}

}  // namespace impl
}  // namespace inflight
