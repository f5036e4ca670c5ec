// Pipelines: stages of copies that producers fill and consumers use, first in, first out.
//
//   producer: producer_acquire()  waits until the stage is free
//             memcpy_async(...)   as many copies as belong to the stage
//             producer_commit()   the stage is full once they are done
//   consumer: consumer_wait()     waits until the oldest stage is full
//             consumer_release()  it may be filled again
//
// What completes a stage is a policy:
//
// | made by | who takes part | completion |
// |---|---|---|
// | make_pipeline() | one thread | async_groups: its cp.async groups |
// | make_pipeline(group, &state) | a group | mbarrier_arrivals: producers arrive with their copies |
// | make_pipeline<transaction_bytes>(group, &state) | a group; one thread copies | bulk copies' bytes |
//
// The number of stages is part of the type.
// CUDA C++ Programming Guide, "Asynchronous Data Copies using cuda::pipeline".
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/copy.cuh>
#include <inflight/impl/pipeline_state.cuh>
#include <inflight/memcpy_async.cuh>

namespace inflight {

enum class pipeline_role { producer, consumer };

// Completion policies.
struct async_groups {};
struct mbarrier_arrivals {};
struct transaction_bytes {};

template <thread_scope Scope, int Stages = Scope == thread_scope_thread ? 4 : 1,
          class Completion = async_groups>
class pipeline;

// Shared memory of a pipeline of a block: two mbarriers a stage. Trivial: make_pipeline sets it up.
template <thread_scope Scope, std::size_t Stages>
class pipeline_shared_state {
  static_assert(
      Scope == thread_scope_block,
      "A pipeline's shared state is for thread_scope_block; a pipeline of one thread needs "
      "none: make_pipeline().");
  static_assert(Stages >= 1 && Stages <= 255, "A pipeline has 1 to 255 stages.");

 public:
  std::uint64_t full[Stages];   // completes when a stage has been filled
  std::uint64_t empty[Stages];  // completes when a stage has been used
};

// --- one thread ---

// A thread's own pipeline: it both produces and consumes, and other threads see its copies behind a
// barrier after consumer_wait(). Up to Stages batches may be ahead; with more, a wait waits for
// some of the newer ones too.
template <int Stages>
class pipeline<thread_scope_thread, Stages, async_groups> {
  static_assert(Stages >= 1, "A pipeline has at least one stage.");

 public:
  INFLIGHT_DEVICE void producer_acquire() {}
  INFLIGHT_DEVICE void producer_commit() {
    ptx::cp_async_commit_group();
    ++ahead_;
  }
  // Waits for the oldest batch. How many are behind it is known at run time only, as a stream's
  // last ones have none: one comparison where Stages are ahead, and one more for each fewer.
  INFLIGHT_DEVICE void consumer_wait() {
    wait_behind<Stages>();
    --ahead_;
  }
  // Waits until all but the `Newer` newest batches are there: one instruction. For streams that
  // commit a batch each time, empty ones at the end.
  template <int Newer>
  INFLIGHT_DEVICE void consumer_wait_prior() {
    ptx::cp_async_wait_group<Newer>();
    ahead_ = Newer;
  }
  INFLIGHT_DEVICE void consumer_release() {}
  INFLIGHT_DEVICE void quit() {}
  INFLIGHT_DEVICE void copied_plainly() {}

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

  int ahead_ = 0;  // batches closed and not waited for
};

// --- a group ---

// Threads of a block, each a producer, a consumer or both. Waits are mbarrier waits; a producer's
// commit arrives when its copies are done, a consumer's release at once.
template <int Stages>
class pipeline<thread_scope_block, Stages, mbarrier_arrivals> {
 public:
  INFLIGHT_DEVICE explicit pipeline(impl::pipeline_place<Stages> place) : place_(place) {}

  // Waits until the next stage to fill has been released by all consumers.
  INFLIGHT_DEVICE void producer_acquire() { place_.wait_empty(head_); }
  // The stage is full once all producers have committed it and their copies are done.
  INFLIGHT_DEVICE void producer_commit() {
    if (plainly_) {
      ptx::cp_async_mbarrier_arrive(place_.full(head_));
      ptx::mbarrier_arrive(place_.full(head_));
      plainly_ = false;
    } else {
      ptx::cp_async_mbarrier_arrive_noinc(place_.full(head_));
    }
    head_.advance();
  }
  // Waits until the oldest stage is full: all threads' copies are there.
  INFLIGHT_DEVICE void consumer_wait() { place_.wait_full(tail_); }
  // This thread has used the stage; it may be filled again when all consumers have.
  INFLIGHT_DEVICE void consumer_release() {
    place_.release(tail_);
    tail_.advance();
  }

  // The stage that is being filled, and the one that is being used: 0 to Stages - 1.
  INFLIGHT_DEVICE int producer_stage() const { return head_.stage(); }
  INFLIGHT_DEVICE int consumer_stage() const { return tail_.stage(); }

  // For memcpy_async: some bytes of the stage were written by ordinary stores.
  INFLIGHT_DEVICE void copied_plainly() { plainly_ = true; }

 private:
  impl::pipeline_place<Stages> place_;
  impl::pipeline_cursor<Stages> head_{1}, tail_{0};
  bool plainly_ = false;
};

// The same, fed by bulk and tensor copies: one thread produces, and a stage is full when the bytes
// that it announced are there. sm_90.
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
  INFLIGHT_DEVICE explicit pipeline(impl::pipeline_place<Stages> place) : place_(place) {}

  // The one producing thread.
  INFLIGHT_DEVICE void producer_acquire() {
    static_assert(impl::has_sm90<impl::pipeline_place<Stages>>,
                  "A pipeline of transaction_bytes needs sm_90; on sm_80 use mbarrier_arrivals.");
    place_.wait_empty(head_);
    copies_ = transaction(place_.full(head_));
  }
  // Where the stage's copies are issued and counted.
  INFLIGHT_DEVICE transaction& copies() { return copies_; }
  INFLIGHT_DEVICE void producer_commit() {
    copies_.arrive();
    head_.advance();
  }

  // All consumers.
  INFLIGHT_DEVICE void consumer_wait() { place_.wait_full(tail_); }
  INFLIGHT_DEVICE void consumer_release() {
    place_.release(tail_);
    tail_.advance();
  }

  INFLIGHT_DEVICE int producer_stage() const { return head_.stage(); }
  INFLIGHT_DEVICE int consumer_stage() const { return tail_.stage(); }

 private:
  impl::pipeline_place<Stages> place_;
  impl::pipeline_cursor<Stages> head_{1}, tail_{0};
  transaction copies_{0u};
};

// --- making them ---

// A thread's own pipeline; no shared memory. Its waits are exact for up to `Stages` batches ahead.
template <int Stages = 4>
INFLIGHT_DEVICE pipeline<thread_scope_thread, Stages> make_pipeline() {
  return {};
}

// All threads of the group call it, in one place; it waits for them. Everyone produces and
// consumes.
template <class Completion = mbarrier_arrivals, class Group, std::size_t Stages>
INFLIGHT_DEVICE auto make_pipeline(const Group& group,
                                   pipeline_shared_state<thread_scope_block, Stages>* state)
    -> pipeline<thread_scope_block, static_cast<int>(Stages), Completion> {
  return pipeline<thread_scope_block, static_cast<int>(Stages), Completion>(
      impl::set_up<Completion>(group, state));
}

// The same with a role for each thread.
template <class Completion = mbarrier_arrivals, class Group, std::size_t Stages>
INFLIGHT_DEVICE auto make_pipeline(const Group& group,
                                   pipeline_shared_state<thread_scope_block, Stages>* state,
                                   pipeline_role role)
    -> pipeline<thread_scope_block, static_cast<int>(Stages), Completion> {
  return pipeline<thread_scope_block, static_cast<int>(Stages), Completion>(
      impl::set_up<Completion>(group, state, role == pipeline_role::producer));
}

// The same: the first `producers` threads by rank produce, the others consume.
template <class Completion = mbarrier_arrivals, class Group, std::size_t Stages>
INFLIGHT_DEVICE auto make_pipeline(const Group& group,
                                   pipeline_shared_state<thread_scope_block, Stages>* state,
                                   std::size_t producers)
    -> pipeline<thread_scope_block, static_cast<int>(Stages), Completion> {
  return make_pipeline<Completion>(
      group, state,
      group.thread_rank() < producers ? pipeline_role::producer : pipeline_role::consumer);
}

// --- copies into the stage that was acquired ---

// The group's threads, all producers, copy `bytes` together.
template <class Group, class T, class Size, thread_scope Scope, int Stages, class Completion>
INFLIGHT_DEVICE void memcpy_async(const Group& group, T* shared, const T* global, Size bytes,
                                  pipeline<Scope, Stages, Completion>& into) {
  const bool plainly = impl::copy_part<impl::promise<T, Size>>(
      shared, global, static_cast<std::uint32_t>(bytes), group.thread_rank(), group.num_threads());
  if (plainly) into.copied_plainly();
}

// This thread alone copies `bytes`.
template <class T, class Size, thread_scope Scope, int Stages, class Completion>
INFLIGHT_DEVICE void memcpy_async(T* shared, const T* global, Size bytes,
                                  pipeline<Scope, Stages, Completion>& into) {
  if (impl::copy_part<impl::promise<T, Size>>(shared, global, static_cast<std::uint32_t>(bytes), 0,
                                              1))
    into.copied_plainly();
}

// This thread's copy into a stage fed by transaction bytes: a bulk copy, multiples of 16.
template <class T, class Size, int Stages>
INFLIGHT_DEVICE void memcpy_async(T* shared, const T* global, Size bytes,
                                  pipeline<thread_scope_block, Stages, transaction_bytes>& into) {
  into.copies().load(shared, global, static_cast<std::uint32_t>(bytes));
}

// Waits for all but the `Newer` newest batches of a thread's pipeline.
template <int Newer, int Stages>
INFLIGHT_DEVICE void pipeline_consumer_wait_prior(
    pipeline<thread_scope_thread, Stages, async_groups>& which) {
  which.template consumer_wait_prior<Newer>();
}

// --- how deep ---

// The bytes that must be in flight an SM to keep the memory busy: A100 16 KiB, H200 48, B200 64.
INFLIGHT_HOST_DEVICE constexpr int bytes_in_flight(int sm) {
  return sm >= 100 ? 65536 : sm >= 90 ? 49152 : 16384;
}

// A number of stages, 2 to 8, with which BlocksPerSm blocks have that much in flight, TileBytes a
// stage, while each uses one stage more. `Sm` is the chip's compute capability: the same answer on
// the host and on the device.
template <int TileBytes, int BlocksPerSm = 1, int Sm = 90>
INFLIGHT_HOST_DEVICE constexpr int stages_for() {
  static_assert(TileBytes > 0 && BlocksPerSm > 0, "A tile has bytes, and an SM blocks.");
  constexpr int all = TileBytes * BlocksPerSm;
  constexpr int deep = (bytes_in_flight(Sm) + all - 1) / all + 1;
  return deep < 2 ? 2 : deep > 8 ? 8 : deep;
}

}  // namespace inflight
