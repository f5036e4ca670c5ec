// Pipelines of device and system scope: their stages' barriers lie in ordinary memory.
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/impl/pipeline_state.cuh>

namespace inflight {

enum class pipeline_role { producer, consumer };

struct async_groups;
struct mbarrier_arrivals;
// A completion policy: each producer's commit waits for its own copies and then arrives.
struct counted_arrivals {};

// In place of a pipeline's number of stages: known only at run time.
inline constexpr int any_stages = 0;

template <thread_scope Scope, int Stages = Scope == thread_scope_thread ? 4 : any_stages,
          class Completion = std::conditional_t<
              Scope == thread_scope_thread, async_groups,
              std::conditional_t<Scope == thread_scope_block, mbarrier_arrivals, counted_arrivals>>>
class pipeline;

// Memory that all threads of the pipeline can access; make_pipeline initialises it. The number may
// have any integral type, as a program's templates that deduce it have.
template <thread_scope Scope, auto Stages>
class pipeline_shared_state {
  static_assert(Scope != thread_scope_thread,
                "A pipeline of one thread needs no shared state: make_pipeline().");
  static_assert(Stages >= 1 && Stages <= 255, "A pipeline has 1 to 255 stages.");

 public:
  barrier<Scope> full[Stages < 1 ? 1 : Stages];   // completes when the stage is full
  barrier<Scope> empty[Stages < 1 ? 1 : Stages];  // completes when all consumers released it
  std::uint64_t users;                            // threads that have not left
};

// Threads of a group of any size, each a producer, a consumer or both.
template <thread_scope Scope>
class pipeline<Scope, any_stages, counted_arrivals> {
 public:
  // All threads of the group call it together; it waits for them.
  INFLIGHT_CALLS_ARGUMENTS
  template <auto Stages, class Group>
  INFLIGHT_HOST_DEVICE pipeline(pipeline_shared_state<Scope, Stages>& state, const Group& group)
      : pipeline(state) {
    const auto threads = static_cast<std::uint32_t>(group.size());
    if (group.thread_rank() == 0) init(state, threads, threads, threads);
    group.sync();
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <auto Stages, class Group>
  INFLIGHT_HOST_DEVICE pipeline(pipeline_shared_state<Scope, Stages>& state, const Group& group,
                                pipeline_role role)
      : pipeline(state) {
    const auto threads = static_cast<std::uint32_t>(group.size());
    if (group.thread_rank() == 0) impl::store_release<Scope>(&state.users, 0);
    group.sync();
    if (role == pipeline_role::producer) impl::add_acq_rel<Scope>(&state.users, 1);
    group.sync();
    if (group.thread_rank() == 0) {
      const auto count = static_cast<std::uint32_t>(impl::load_acquire<Scope>(&state.users));
      init(state, count, threads - count, threads);
    }
    group.sync();
  }

  // Waits until the next stage to fill has been released by all consumers.
  INFLIGHT_HOST_DEVICE void producer_acquire() {
    empty_[head_.stage].wait_parity(head_.parity ^ 1);
  }
  // Waits for this thread's copies. The stage is full once all producers have committed it.
  INFLIGHT_HOST_DEVICE void producer_commit() {
    INFLIGHT_ON_DEVICE(ptx::cp_async_wait_all();)
    full_[head_.stage].arrive();
    head_.advance(stages_);
  }
  // Waits until the oldest stage is full.
  INFLIGHT_HOST_DEVICE void consumer_wait() { full_[tail_.stage].wait_parity(tail_.parity); }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Duration>
  INFLIGHT_HOST_DEVICE bool consumer_wait_for(const Duration& time) {
    return full_[tail_.stage].try_wait_parity_for(tail_.parity, time);
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Time>
  INFLIGHT_HOST_DEVICE bool consumer_wait_until(const Time& time) {
    return full_[tail_.stage].try_wait_parity_until(tail_.parity, time);
  }
  // This thread is done with the stage. It is free again when all consumers have released it.
  INFLIGHT_HOST_DEVICE void consumer_release() {
    empty_[tail_.stage].arrive();
    tail_.advance(stages_);
  }

  INFLIGHT_HOST_DEVICE int producer_stage() const { return head_.stage; }
  INFLIGHT_HOST_DEVICE int consumer_stage() const { return tail_.stage; }

  // This thread leaves the pipeline. Returns whether it is the last to leave.
  INFLIGHT_HOST_DEVICE bool quit() {
    return impl::add_acq_rel<Scope>(users_, ~std::uint64_t(0)) == 1;
  }

  INFLIGHT_HOST_DEVICE void used_ordinary_stores() {}

 private:
  template <auto Stages>
  INFLIGHT_HOST_DEVICE explicit pipeline(pipeline_shared_state<Scope, Stages>& state)
      : full_(state.full), empty_(state.empty), users_(&state.users), stages_(Stages) {}

  template <auto Stages>
  INFLIGHT_HOST_DEVICE static void init(pipeline_shared_state<Scope, Stages>& state,
                                        std::uint32_t producers, std::uint32_t consumers,
                                        std::uint32_t users) {
    for (int i = 0; i < Stages; ++i) {
      inflight::init(&state.full[i], producers);
      inflight::init(&state.empty[i], consumers);
    }
    impl::store_release<Scope>(&state.users, users);
  }

  barrier<Scope>* full_;
  barrier<Scope>* empty_;
  std::uint64_t* users_;
  int stages_;
  impl::pipeline_cursor head_, tail_;
};

}  // namespace inflight
