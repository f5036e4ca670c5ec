// Pipelines: stages of copies that producers fill and consumers use in first-in, first-out order.
//
//   producer: producer_acquire()  waits until the stage is free
//             memcpy_async(...)   as many copies as belong to the stage
//             producer_commit()   the stage is full once they are done
//   consumer: consumer_wait()     waits until the oldest stage is full
//             consumer_release()  it may be filled again
//
// A completion policy says what completes a stage:
//
// | made by | participants | completion policy |
// |---|---|---|
// | make_pipeline() | one thread | async_groups: its cp.async groups |
// | make_pipeline(group, &state) | a group | mbarrier_arrivals of finished copies |
// | make_pipeline<transaction_bytes>(group, &state) | a group; one copies | transaction_bytes |
// | make_pipeline(group, &state) | a group; state of a wider scope | counted_arrivals |
//
// The number of stages is part of the type: write `auto pipe = make_pipeline(...)`. A block's
// pipeline of mbarrier_arrivals converts to pipeline<thread_scope_block>, with any number of
// stages. CUDA C++ Programming Guide, "Asynchronous Data Copies using cuda::pipeline".
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/copy.cuh>
#include <inflight/impl/counted_pipeline.cuh>
#include <inflight/impl/pipeline_state.cuh>
#include <inflight/impl/require.cuh>
#include <inflight/memcpy_async.cuh>

namespace inflight {

// Completion policies.
struct async_groups {};
struct mbarrier_arrivals {};
struct transaction_bytes {};

// A block's pipeline: two mbarriers a stage in shared memory, two counters in other memory and on
// the host. Trivial; make_pipeline initialises it. For device and system scope see
// impl/counted_pipeline.cuh.
template <auto Stages>
class pipeline_shared_state<thread_scope_block, Stages> {
  static_assert(Stages >= 1 && Stages <= 255, "A pipeline has 1 to 255 stages.");

 public:
  std::uint64_t full[Stages < 1 ? 1 : Stages];   // completes when the stage is full
  std::uint64_t empty[Stages < 1 ? 1 : Stages];  // completes when all consumers released it
  std::uint32_t users;                           // threads that have not left
};

// --- one thread ---

// One thread's pipeline. The thread both produces and consumes. Other threads see its copies after
// consumer_wait() and a barrier. If more than Stages batches are in flight, a wait also waits for
// some of the newer ones.
template <int Stages>
class pipeline<thread_scope_thread, Stages, async_groups> {
  static_assert(Stages >= 1, "A pipeline has at least one stage.");

 public:
  INFLIGHT_HOST_DEVICE void producer_acquire() {}
  INFLIGHT_HOST_DEVICE void producer_commit() {
    INFLIGHT_ON_DEVICE(ptx::cp_async_commit_group();)
    ++ahead_;
  }
  // Waits for the oldest batch. The number of newer ones is known only at run time: one comparison
  // if Stages are in flight, and one more for each fewer.
  INFLIGHT_HOST_DEVICE void consumer_wait() {
    INFLIGHT_ON_DEVICE(wait_behind<Stages>();)
    --ahead_;
  }
  // Waits until all but the `Newer` newest batches are complete: one instruction. For streams that
  // commit one batch each iteration, empty ones at the end.
  template <int Newer>
  INFLIGHT_HOST_DEVICE void consumer_wait_prior() {
    INFLIGHT_ON_DEVICE(ptx::cp_async_wait_group<Newer>();)
    ahead_ = Newer;
  }
  // For the same source as other pipelines: cp.async groups have no wait with a limit, so these
  // wait for the batch and return true.
  template <class Duration>
  INFLIGHT_HOST_DEVICE bool consumer_wait_for(const Duration&) {
    consumer_wait();
    return true;
  }
  template <class Time>
  INFLIGHT_HOST_DEVICE bool consumer_wait_until(const Time&) {
    consumer_wait();
    return true;
  }
  INFLIGHT_HOST_DEVICE void consumer_release() {}
  INFLIGHT_HOST_DEVICE bool quit() { return true; }
  INFLIGHT_HOST_DEVICE void used_ordinary_stores() {}

 private:
  template <int Ahead>
  INFLIGHT_DEVICE void wait_behind() {
    if constexpr (Ahead == 1) {
      ptx::cp_async_wait_group<0>();
    } else {
      if (ahead_ >= Ahead)
        ptx::cp_async_wait_group<Ahead - 1>();
      else
        wait_behind<Ahead - 1>();
    }
  }

  int ahead_ = 0;  // batches committed and not yet waited for
};

// --- a group ---

// Threads of a block, each a producer, a consumer or both. Waits are mbarrier waits. A producer's
// commit arrives when its copies are done; a consumer's release arrives at once. Where the state
// does not lie in shared memory, a commit waits for the thread's copies.
template <>
class pipeline<thread_scope_block, any_stages, mbarrier_arrivals> {
 public:
  INFLIGHT_HOST_DEVICE pipeline(const impl::pipeline_ring& ring, int stages)
      : ring_(ring), stages_(stages) {}

  // Waits until the next stage to fill has been released by all consumers.
  INFLIGHT_HOST_DEVICE void producer_acquire() { ring_.acquire(stages_); }
  // The stage is full once all producers have committed it and their copies are done.
  INFLIGHT_HOST_DEVICE void producer_commit() { commit(stages_); }
  // Waits until the oldest stage is full: the copies of all producers are complete.
  INFLIGHT_HOST_DEVICE void consumer_wait() { ring_.wait(); }
  // The same for at most a duration, or until a time of the GPU's clock, both cuda::std::chrono
  // types. Returns whether the stage is full.
  INFLIGHT_CALLS_ARGUMENTS
  template <class Duration>
  INFLIGHT_HOST_DEVICE bool consumer_wait_for(const Duration& time) {
    return impl::test_for(impl::nanoseconds(time), [&] { return ring_.is_full(); });
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Time>
  INFLIGHT_HOST_DEVICE bool consumer_wait_until(const Time& time) {
    return impl::test_until(impl::nanoseconds(time.time_since_epoch()),
                            [&] { return ring_.is_full(); });
  }
  // This thread is done with the stage. It is free again when all consumers have released it.
  INFLIGHT_HOST_DEVICE void consumer_release() { ring_.release(stages_); }

  // Index of the stage being filled and of the stage being used: 0 to the number of stages - 1.
  INFLIGHT_HOST_DEVICE int producer_stage() const { return ring_.head.stage; }
  INFLIGHT_HOST_DEVICE int consumer_stage() const { return ring_.tail.stage; }

  // This thread leaves the pipeline, with no stage of its own acquired or in use. Returns whether
  // it is the last to leave; then the state's memory is free. A pipeline need not be left.
  INFLIGHT_HOST_DEVICE bool quit() { return ring_.leave(stages_); }

  // For memcpy_async: ordinary stores wrote some bytes of the stage.
  INFLIGHT_HOST_DEVICE void used_ordinary_stores() { ordinary_stores_ = true; }

 protected:
  INFLIGHT_HOST_DEVICE void commit(int stages) {
    if (ordinary_stores_) {
      ring_.fill_after_stores();
      ordinary_stores_ = false;
    } else {
      ring_.fill();
    }
    ring_.head.advance(stages);
  }
  impl::pipeline_ring ring_;
  int stages_;
  bool ordinary_stores_ = false;
};

// The same with a number of stages known at compile time.
template <int Stages>
class pipeline<thread_scope_block, Stages, mbarrier_arrivals>
    : public pipeline<thread_scope_block, any_stages, mbarrier_arrivals> {
 public:
  INFLIGHT_HOST_DEVICE explicit pipeline(const impl::pipeline_ring& ring)
      : pipeline<thread_scope_block, any_stages, mbarrier_arrivals>(ring, Stages) {}
  INFLIGHT_HOST_DEVICE void producer_acquire() { this->ring_.acquire(Stages); }
  INFLIGHT_HOST_DEVICE void producer_commit() { this->commit(Stages); }
  INFLIGHT_HOST_DEVICE void consumer_release() { this->ring_.release(Stages); }
};

// The same, filled by bulk and tensor copies. One thread produces, and a stage is full when the
// bytes that it announced have arrived. Other threads with the producer role do nothing: a second
// commit would complete the stage too early. sm_90.
//
//   if (producer) {
//     pipe.producer_acquire();
//     pipe.copies().load(tile[pipe.producer_stage()], source, bytes);
//     pipe.producer_commit();
//   }
template <int Stages>
class pipeline<thread_scope_block, Stages, transaction_bytes> {
  static_assert(Stages >= 1, "A pipeline has at least one stage.");

 public:
  INFLIGHT_DEVICE explicit pipeline(const impl::pipeline_ring& ring) : ring_(ring) {}

  // Only the one producing thread calls it.
  INFLIGHT_DEVICE void producer_acquire() {
    static_assert(impl::has_sm90<pipeline>,
                  "A pipeline of transaction_bytes needs sm_90; on sm_80 use mbarrier_arrivals.");
    ring_.acquire(Stages);
    copies_ = transaction(ring_.full(ring_.head));
  }
  // The transaction that issues the stage's copies and counts their bytes.
  INFLIGHT_DEVICE transaction& copies() { return copies_; }
  INFLIGHT_DEVICE void producer_commit() {
    [[maybe_unused]] const std::uint64_t before = copies_.arrive();
    INFLIGHT_REQUIRE(ptx::mbarrier_pending_count(before) == 1,
                     "one thread produces into a pipeline of transaction_bytes: only one producer "
                     "may acquire, copy and commit");
    ring_.head.advance(Stages);
  }

  // All consumers call these.
  INFLIGHT_DEVICE void consumer_wait() { ring_.wait(); }
  INFLIGHT_DEVICE void consumer_release() { ring_.release(Stages); }
  INFLIGHT_DEVICE bool quit() { return ring_.leave(Stages); }

  INFLIGHT_DEVICE int producer_stage() const { return ring_.head.stage; }
  INFLIGHT_DEVICE int consumer_stage() const { return ring_.tail.stage; }

 private:
  impl::pipeline_ring ring_;
  transaction copies_{0u};
};

// --- making them ---

// One thread's pipeline; needs no shared memory. Its waits are exact for up to `Stages` batches in
// flight.
template <int Stages = 4>
INFLIGHT_HOST_DEVICE pipeline<thread_scope_thread, Stages> make_pipeline() {
  return {};
}

// All threads of the group call it together; it waits for them. Every thread produces and consumes.
INFLIGHT_CALLS_ARGUMENTS
template <class Completion = mbarrier_arrivals, class Group, auto Stages>
INFLIGHT_HOST_DEVICE auto make_pipeline(const Group& group,
                                        pipeline_shared_state<thread_scope_block, Stages>* state)
    -> pipeline<thread_scope_block, int(Stages), Completion> {
  return pipeline<thread_scope_block, int(Stages), Completion>(
      impl::set_up<Completion>(group, state));
}

// The same with a role for each thread.
INFLIGHT_CALLS_ARGUMENTS
template <class Completion = mbarrier_arrivals, class Group, auto Stages>
INFLIGHT_HOST_DEVICE auto make_pipeline(const Group& group,
                                        pipeline_shared_state<thread_scope_block, Stages>* state,
                                        pipeline_role role)
    -> pipeline<thread_scope_block, int(Stages), Completion> {
  return pipeline<thread_scope_block, int(Stages), Completion>(
      impl::set_up<Completion>(group, state, role == pipeline_role::producer));
}

// The same: the first `producers` threads by rank produce, the others consume.
INFLIGHT_CALLS_ARGUMENTS
template <class Completion = mbarrier_arrivals, class Group, auto Stages>
INFLIGHT_HOST_DEVICE auto make_pipeline(const Group& group,
                                        pipeline_shared_state<thread_scope_block, Stages>* state,
                                        std::size_t producers)
    -> pipeline<thread_scope_block, int(Stages), Completion> {
  return make_pipeline<Completion>(
      group, state,
      group.thread_rank() < producers ? pipeline_role::producer : pipeline_role::consumer);
}

// The same for device and system scope, where no copy completes on a barrier: each producer's
// commit waits for its own copies.
INFLIGHT_CALLS_ARGUMENTS
template <class Group, thread_scope Scope, auto Stages,
          class = std::enable_if_t<Scope != thread_scope_block>>
INFLIGHT_HOST_DEVICE pipeline<Scope> make_pipeline(const Group& group,
                                                   pipeline_shared_state<Scope, Stages>* state) {
  return pipeline<Scope>(*state, group);
}
INFLIGHT_CALLS_ARGUMENTS
template <class Group, thread_scope Scope, auto Stages,
          class = std::enable_if_t<Scope != thread_scope_block>>
INFLIGHT_HOST_DEVICE pipeline<Scope> make_pipeline(const Group& group,
                                                   pipeline_shared_state<Scope, Stages>* state,
                                                   pipeline_role role) {
  return pipeline<Scope>(*state, group, role);
}
INFLIGHT_CALLS_ARGUMENTS
template <class Group, thread_scope Scope, auto Stages,
          class = std::enable_if_t<Scope != thread_scope_block>>
INFLIGHT_HOST_DEVICE pipeline<Scope> make_pipeline(const Group& group,
                                                   pipeline_shared_state<Scope, Stages>* state,
                                                   std::size_t producers) {
  return make_pipeline(
      group, state,
      group.thread_rank() < producers ? pipeline_role::producer : pipeline_role::consumer);
}

// --- copies into the stage that was acquired ---

namespace impl {

// A group's threads arrive one by one, but a stage of transaction bytes waits only for bytes.
template <class Completion>
INFLIGHT_HOST_DEVICE constexpr void require_group_copies() {
  static_assert(
      !by_bytes<Completion>,
      "A pipeline of transaction_bytes is filled by bulk copies, which one thread issues: "
      "call memcpy_async(shared, global, bytes, pipe) without the group, in that thread.");
}

// Copies into a stage by groups of cp.async, or by mbarrier arrivals.
INFLIGHT_CALLS_ARGUMENTS
template <int Alignment, class Group, class Size, class Pipeline, class... Policy>
INFLIGHT_HOST_DEVICE async_contract_fulfillment copy_into_stage(const Group& group, void* to,
                                                                const void* from, Size bytes,
                                                                Pipeline& into, Policy... policy) {
  require_policy<Policy...>();
  const copied by = copy_part<Alignment>(group, to, from, bytes, policy...);
  if (by.with_stores) into.used_ordinary_stores();
  return fulfilled(by);
}

}  // namespace impl

// The group's threads, all producers, copy `bytes` together. `policy...` is nothing, or an L2
// policy, here and below.
INFLIGHT_CALLS_ARGUMENTS
template <class Group, class T, class Size, thread_scope Scope, int Stages, class Completion,
          class... Policy>
INFLIGHT_HOST_DEVICE async_contract_fulfillment
memcpy_async(const Group& group, T* to, const T* from, Size bytes,
             pipeline<Scope, Stages, Completion>& into, Policy... policy) {
  impl::require_group_copies<Completion>();
  if constexpr (!impl::by_bytes<Completion>)
    return impl::copy_into_stage<impl::promise<T, Size>>(group, to, from, bytes, into, policy...);
}
INFLIGHT_CALLS_ARGUMENTS
template <class Group, class Size, thread_scope Scope, int Stages, class Completion,
          class... Policy>
INFLIGHT_HOST_DEVICE async_contract_fulfillment
memcpy_async(const Group& group, void* to, const void* from, Size bytes,
             pipeline<Scope, Stages, Completion>& into, Policy... policy) {
  return memcpy_async<Group, void>(group, to, from, bytes, into, policy...);
}

// This thread alone copies `bytes`.
template <class T, class Size, thread_scope Scope, int Stages, class Completion, class... Policy>
INFLIGHT_HOST_DEVICE async_contract_fulfillment memcpy_async(
    T* to, const T* from, Size bytes, pipeline<Scope, Stages, Completion>& into, Policy... policy) {
  return impl::copy_into_stage<impl::promise<T, Size>>(impl::one_thread{}, to, from, bytes, into,
                                                       policy...);
}
template <class Size, thread_scope Scope, int Stages, class Completion, class... Policy>
INFLIGHT_HOST_DEVICE async_contract_fulfillment
memcpy_async(void* to, const void* from, Size bytes, pipeline<Scope, Stages, Completion>& into,
             Policy... policy) {
  return impl::copy_into_stage<impl::promise<void, Size>>(impl::one_thread{}, to, from, bytes, into,
                                                          policy...);
}

// This thread's copy into a stage of transaction bytes: a bulk copy. Addresses and size are
// multiples of 16 bytes.
template <class T, class Size, int Stages, class... Policy>
INFLIGHT_DEVICE async_contract_fulfillment
memcpy_async(T* shared, const T* global, Size bytes,
             pipeline<thread_scope_block, Stages, transaction_bytes>& into, Policy... policy) {
  into.copies().load(shared, global, static_cast<std::uint32_t>(bytes), policy...);
  return async_contract_fulfillment::async;
}
template <class Size, int Stages, class... Policy>
INFLIGHT_DEVICE async_contract_fulfillment
memcpy_async(void* shared, const void* global, Size bytes,
             pipeline<thread_scope_block, Stages, transaction_bytes>& into, Policy... policy) {
  into.copies().load(shared, global, static_cast<std::uint32_t>(bytes), policy...);
  return async_contract_fulfillment::async;
}

// Waits for all but the `Newer` newest batches of one thread's pipeline.
template <int Newer, int Stages>
INFLIGHT_DEVICE void pipeline_consumer_wait_prior(
    pipeline<thread_scope_thread, Stages, async_groups>& which) {
  which.template consumer_wait_prior<Newer>();
}

// The barrier's current phase also waits for this thread's copies so far; threads arrive as usual.
// Call it in place of producer_commit(): consumer_wait() does not wait for the batch.
// cp.async.mbarrier.arrive. CUDA C++ Programming Guide, "pipeline_producer_commit".
template <int Stages>
INFLIGHT_DEVICE void pipeline_producer_commit(pipeline<thread_scope_thread, Stages, async_groups>&,
                                              barrier<>& done) {
  ptx::cp_async_mbarrier_arrive(done.address());
}

// --- how deep ---

// Bytes in flight per SM that keep the memory busy: A100 16 KiB, H200 48 KiB, B200 64 KiB.
INFLIGHT_HOST_DEVICE constexpr int bytes_in_flight(int sm) {
  return sm >= 100 ? 65536 : sm >= 90 ? 49152 : 16384;
}

// The number of stages, 2 to 8, with which BlocksPerSm blocks have that many bytes in flight, at
// TileBytes a stage, plus one in use. `Sm` is the compute capability, the same on host and device.
template <int TileBytes, int BlocksPerSm = 1, int Sm = 90>
INFLIGHT_HOST_DEVICE constexpr int stages_for() {
  static_assert(TileBytes > 0 && BlocksPerSm > 0,
                "The tile's bytes and the blocks per SM must be positive.");
  constexpr int all = TileBytes * BlocksPerSm;
  constexpr int deep = (bytes_in_flight(Sm) + all - 1) / all + 1;
  return deep < 2 ? 2 : deep > 8 ? 8 : deep;
}

}  // namespace inflight
