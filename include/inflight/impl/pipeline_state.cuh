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

// The stage that comes next, and the parity of the round through the ring.
template <int Stages>
struct pipeline_cursor {
  int stage = 0;
  std::uint32_t parity = 0;
  INFLIGHT_DEVICE void advance() {
    if constexpr (Stages == 1) {
      parity ^= 1;
    } else {
      ++stage;
      if (stage == Stages) stage = 0, parity ^= 1;
    }
  }
};

template <int Stages>
struct pipeline_place {
  std::uint32_t state;      // shared address of full[0]; empty[0] is behind full[Stages - 1]
  std::uint32_t consumers;  // the lanes of this warp that consume, of which the first arrives

  INFLIGHT_DEVICE std::uint32_t full(const pipeline_cursor<Stages>& at) const {
    return state + 8 * at.stage;
  }
  INFLIGHT_DEVICE std::uint32_t empty(const pipeline_cursor<Stages>& at) const {
    return state + 8 * (Stages + at.stage);
  }
  // In the first round nothing has to be released: the phase before the first counts as complete.
  INFLIGHT_DEVICE void wait_empty(const pipeline_cursor<Stages>& at) const {
    wait_parity(empty(at), at.parity ^ 1);
  }
  INFLIGHT_DEVICE void wait_full(const pipeline_cursor<Stages>& at) const {
    wait_parity(full(at), at.parity);
  }
  INFLIGHT_DEVICE void release(const pipeline_cursor<Stages>& at) const {
    __syncwarp(consumers);
    if (leads()) ptx::mbarrier_arrive(empty(at));
  }
  INFLIGHT_DEVICE bool leads() const { return (consumers & lanes_below()) == 0; }
  static INFLIGHT_DEVICE std::uint32_t lanes_below() {
    std::uint32_t mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
  }
};

// The lanes of this thread's warp that are in the group, all of which are here: by rank, as warps
// of consecutive ranks where the group is a block, else as the group says.
template <class Group, class = void>
struct group_lanes {
  static INFLIGHT_DEVICE std::uint32_t of(const Group& group) {
    const std::uint32_t first = group.thread_rank() & ~31u, rest = group.num_threads() - first;
    return rest >= 32 ? ~0u : (1u << rest) - 1;
  }
};
template <class Group>
struct group_lanes<Group, std::void_t<decltype(std::declval<const Group&>().mask())>> {
  static INFLIGHT_DEVICE std::uint32_t of(const Group& group) { return group.mask(); }
};

// Counts the producers and the warps that consume, and initialises the mbarriers.
template <class Completion, class Group, std::size_t Stages>
INFLIGHT_DEVICE pipeline_place<static_cast<int>(Stages)> set_up(
    const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state, bool produces,
    bool consumes) {
  const std::uint32_t consumers = __ballot_sync(group_lanes<Group>::of(group), consumes);
  pipeline_place<static_cast<int>(Stages)> place{ptx::shared_address(state->full), consumers};
  const bool leader = consumes && place.leads();
  // Two counters lie where the first mbarriers will.
  auto* counts = reinterpret_cast<unsigned*>(state->full);
  if (group.thread_rank() == 0) counts[0] = counts[1] = 0;
  group.sync();
  if (produces) atomicAdd(&counts[0], 1u);
  if (leader) atomicAdd(&counts[1], 1u);
  group.sync();
  if (group.thread_rank() == 0) {
    constexpr bool by_bytes = std::is_same_v<Completion, transaction_bytes>;
    const unsigned producers = by_bytes ? 1 : counts[0], users = counts[1];
    for (int i = 0; i < static_cast<int>(Stages); ++i) {
      ptx::mbarrier_init(place.state + 8 * i, producers);
      ptx::mbarrier_init(place.state + 8 * (static_cast<int>(Stages) + i), users);
    }
    publish_mbarriers();
  }
  group.sync();
  return place;
}

}  // namespace impl
}  // namespace inflight
