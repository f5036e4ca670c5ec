// Pipelines over a cluster: each block's producer fills stages of its own and, by multicast, of
// other blocks; consumers of several blocks release a stage to every producer that fills it.
// sm_90.
//
// A block's stage is full when all its bytes have arrived, whoever copied them, and a producer
// fills a stage again once the consumers of all blocks that it copies to have released it.
//
//   __shared__ inflight::cluster_pipeline_state<4, bytes_of_a_stage> state;
//   if (threadIdx.x == 0) state.init(consumer_warps, ranks);
//   cluster.sync();
//
//   inflight::cluster_producer fill(state);                // in one thread
//   for (...) {
//     fill.acquire();                                      // free in all blocks; expects the bytes
//     inflight::copy_async(a[fill.stage()], map_a, {x, y}, fill);
//     inflight::multicast_async(b[fill.stage()], map_b, {x, y}, fill, ranks);
//     fill.commit();
//   }
//   fill.tail();                                           // nobody arrives here any more
//
//   inflight::cluster_consumer use(state, ranks);          // in every thread of the consumers
//   for (...) {
//     use.wait();
//     ... a[use.stage()], b[use.stage()] ...
//     use.release();
//   }
//
// They are two types so that a consumer cannot commit, nor a producer release.
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/impl/pipeline_state.cuh>
#include <inflight/ptx/warp.cuh>

namespace inflight {

// In each block's shared memory, at the same offset in all blocks of the cluster. Bytes arrive in
// one block's stage, by the copies of all producers together.
template <int Stages, std::uint32_t Bytes>
class cluster_pipeline_state {
  static_assert(Stages >= 1 && Stages <= 255, "A pipeline has 1 to 255 stages.");
  static_assert(Bytes % 16 == 0 && Bytes < (1u << 20),
                "A stage has a multiple of 16 bytes, and fewer than 1 MiB.");

 public:
  static constexpr int stages = Stages;
  static constexpr std::uint32_t bytes = Bytes;

  // One thread of each block calls it, before a cluster.sync(). `warps` of every block in `ranks`
  // consume what this block's producer copies.
  template <class Chip = void>
  INFLIGHT_DEVICE void init(unsigned warps, std::uint16_t ranks) {
    impl::require_clusters<Chip>();
    for (int i = 0; i < Stages; ++i) {
      ptx::mbarrier_init(full[i].address(), 1);
      ptx::mbarrier_init(empty[i].address(), warps * static_cast<unsigned>(__popc(ranks)));
    }
    impl::publish_mbarriers();
  }

  barrier<> full[Stages];   // completes when the stage's bytes have arrived
  barrier<> empty[Stages];  // completes when the consumers of all blocks have released the stage
};

// The producing thread's end. A copy to it completes on the acquired stage's barrier, in each block
// that it goes to.
template <int Stages, std::uint32_t Bytes>
class cluster_producer {
 public:
  INFLIGHT_DEVICE explicit cluster_producer(cluster_pipeline_state<Stages, Bytes>& state)
      : state_(state) {}

  // Whether acquire() will not wait; may wait for a short time.
  INFLIGHT_DEVICE bool try_acquire() const {
    return ptx::mbarrier_try_wait_parity(state_.empty[at_.stage].address(), at_.parity ^ 1);
  }
  // Waits until the stage is free in all blocks, and expects the bytes of this block's.
  INFLIGHT_DEVICE void acquire(bool free = false) {
    if (!free) wait_for_releases();
    ptx::mbarrier_arrive_expect_tx(state_.full[at_.stage].address(), Bytes);
  }
  INFLIGHT_DEVICE void commit() { at_.advance(Stages); }
  INFLIGHT_DEVICE int stage() const { return at_.stage; }

  // Waits until the consumers of all blocks have released what was committed. A block must not end
  // before: other blocks still arrive at its barriers.
  INFLIGHT_DEVICE void tail() {
    for (int i = 0; i < Stages; ++i) {
      wait_for_releases();
      at_.advance(Stages);
    }
  }

  INFLIGHT_DEVICE operator const barrier<>&() const { return state_.full[at_.stage]; }

 private:
  INFLIGHT_DEVICE void wait_for_releases() const {
    impl::wait_parity(state_.empty[at_.stage].address(), at_.parity ^ 1);
  }

  cluster_pipeline_state<Stages, Bytes>& state_;
  impl::pipeline_cursor at_;
};

// A consuming thread's end. Consumers are whole warps, whose lanes call these functions together.
template <int Stages, std::uint32_t Bytes>
class cluster_consumer {
 public:
  // The producers of the blocks in `ranks` fill this block's stages.
  INFLIGHT_DEVICE cluster_consumer(cluster_pipeline_state<Stages, Bytes>& state,
                                   std::uint16_t ranks)
      : state_(state), arrives_(ranks >> ptx::lane_id() & 1) {}

  // Whether wait() will not wait; may wait for a short time. Its answer is wait's argument, so that
  // other work fits between.
  INFLIGHT_DEVICE bool try_wait() const {
    return ptx::mbarrier_try_wait_parity(state_.full[at_.stage].address(), at_.parity);
  }
  // Waits until the stage is full.
  INFLIGHT_DEVICE void wait(bool full = false) {
    if (!full) impl::wait_parity(state_.full[at_.stage].address(), at_.parity);
  }
  INFLIGHT_DEVICE int stage() const { return at_.stage; }

  // This warp has read the stage, and written nothing there: one arrival at each producer, without
  // a scope (ptx::mbarrier_arrive_remote_after_reads).
  INFLIGHT_DEVICE void release() {
    advance();
    release_prior();
  }
  // The same in two halves, for stages that are still read while the next is waited for:
  // advance(), and later release_prior(), which releases the oldest stage not yet released.
  INFLIGHT_DEVICE void advance() { at_.advance(Stages); }
  INFLIGHT_DEVICE void release_prior() {
    __syncwarp();
    if (arrives_)
      ptx::mbarrier_arrive_remote_after_reads(state_.empty[released_].address(), ptx::lane_id());
    if (++released_ == Stages) released_ = 0;
  }

 private:
  cluster_pipeline_state<Stages, Bytes>& state_;
  impl::pipeline_cursor at_;
  int released_ = 0;
  bool arrives_;
};

}  // namespace inflight
