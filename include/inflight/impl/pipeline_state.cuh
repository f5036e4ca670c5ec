// A block's pipeline in shared memory: its mbarriers, and where a thread stands in the ring of
// stages.
#pragma once
#include <inflight/impl/mbarrier_wait.cuh>
#include <inflight/ptx/address.cuh>
#include <inflight/ptx/mbarrier.cuh>
#include <type_traits>

namespace inflight {

struct transaction_bytes;
template <thread_scope Scope, std::size_t Stages>
class pipeline_shared_state;

namespace impl {

// Where a thread stands in the ring of stages: the stage that comes next, and the parity of the
// phase that it waits for there, which turns with each round. Consumers begin with phase 0.
// Producers begin with the phase before, which counts as complete: in the first round nothing has
// to be released.
template <int Stages, bool PowerOfTwo = (Stages & (Stages - 1)) == 0>
class pipeline_cursor {
 public:
  INFLIGHT_DEVICE explicit pipeline_cursor(std::uint32_t first_parity) : parity_(first_parity) {}
  INFLIGHT_DEVICE int stage() const { return stage_; }
  INFLIGHT_DEVICE std::uint32_t parity() const { return parity_; }
  INFLIGHT_DEVICE void advance() {
    ++stage_;
    if (stage_ == Stages) stage_ = 0, parity_ ^= 1;
  }

 private:
  int stage_ = 0;
  std::uint32_t parity_;
};

// Of a power of two, a counter holds both.
template <int Stages>
class pipeline_cursor<Stages, true> {
 public:
  INFLIGHT_DEVICE explicit pipeline_cursor(std::uint32_t first_parity)
      : turn_(first_parity * Stages) {}
  INFLIGHT_DEVICE int stage() const { return static_cast<int>(turn_ % Stages); }
  INFLIGHT_DEVICE std::uint32_t parity() const { return turn_ / Stages & 1; }
  INFLIGHT_DEVICE void advance() { ++turn_; }

 private:
  std::uint32_t turn_;
};

template <int Stages>
struct pipeline_place {
  std::uint32_t state;  // shared address of full[0]; empty[0] is behind full[Stages - 1]

  INFLIGHT_DEVICE std::uint32_t full(const pipeline_cursor<Stages>& at) const {
    return state + 8 * at.stage();
  }
  INFLIGHT_DEVICE std::uint32_t empty(const pipeline_cursor<Stages>& at) const {
    return state + 8 * (Stages + at.stage());
  }
  INFLIGHT_DEVICE void wait_empty(const pipeline_cursor<Stages>& at) const {
    wait_parity(empty(at), at.parity());
  }
  INFLIGHT_DEVICE void wait_full(const pipeline_cursor<Stages>& at) const {
    wait_parity(full(at), at.parity());
  }
  // Every consumer arrives. One arrival a warp behind a __syncwarp is slower on an H200: a stream
  // through one stage reached 0.83 of this one's speed.
  INFLIGHT_DEVICE void release(const pipeline_cursor<Stages>& at) const {
    ptx::mbarrier_arrive(empty(at));
  }
};

// Initialises the mbarriers for so many arrivals a stage. One thread.
template <std::size_t Stages>
INFLIGHT_DEVICE void init_stages(pipeline_shared_state<thread_scope_block, Stages>* state,
                                 unsigned producers, unsigned consumers) {
  for (std::size_t i = 0; i < Stages; ++i) {
    ptx::mbarrier_init(ptx::shared_address(&state->full[i]), producers);
    ptx::mbarrier_init(ptx::shared_address(&state->empty[i]), consumers);
  }
  publish_mbarriers();
}

template <class Completion>
inline constexpr bool by_bytes = std::is_same_v<Completion, transaction_bytes>;

// Everyone produces and consumes.
template <class Completion, class Group, std::size_t Stages>
INFLIGHT_DEVICE pipeline_place<static_cast<int>(Stages)> set_up(
    const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state) {
  const unsigned threads = group.num_threads();
  if (group.thread_rank() == 0) init_stages(state, by_bytes<Completion> ? 1 : threads, threads);
  group.sync();
  return {ptx::shared_address(state->full)};
}

// Counts who does what first, where the first mbarrier will be.
template <class Completion, class Group, std::size_t Stages>
INFLIGHT_DEVICE pipeline_place<static_cast<int>(Stages)> set_up(
    const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state, bool produces) {
  auto* producers = reinterpret_cast<unsigned*>(state->full);
  if (group.thread_rank() == 0) *producers = 0;
  group.sync();
  if (produces) atomicAdd(producers, 1u);
  group.sync();
  if (group.thread_rank() == 0) {
    const unsigned count = *producers;
    init_stages(state, by_bytes<Completion> ? 1 : count, group.num_threads() - count);
  }
  group.sync();
  return {ptx::shared_address(state->full)};
}

}  // namespace impl
}  // namespace inflight
