// Pipelines of stores: threads write a stage in shared memory, one of them stores it to global
// memory by a bulk or tensor copy, and the stage is written again once the copy has read it. sm_90.
//
//   inflight::store_pipeline<2> stores;                    // in every thread of `group`
//   for (...) {
//     const int stage = stores.acquire(group);             // a stage that no store reads
//     ... write tile[stage] ...
//     stores.commit(group, [&] { inflight::store_async(map, {x, y}, tile[stage]); });
//   }
//   stores.drain(group);                                   // before the block ends
#pragma once
#include <inflight/copy.cuh>

namespace inflight {

// `group` is a block, a role, a warpgroup, or another group with sync() and thread_rank(); it is
// the same in all calls. Its thread 0 stores.
template <int Stages>
class store_pipeline {
  static_assert(Stages >= 1, "A pipeline has at least one stage.");

 public:
  // Waits until the store that was committed `Stages` commits ago has read its stage, and returns
  // that stage's number.
  // cp.async.bulk.wait_group.read in the storing thread, then the group's barrier.
  template <class Group>
  INFLIGHT_DEVICE int acquire(const Group& group) {
    if (group.thread_rank() == 0) bulk_wait_read<Stages - 1>();
    group.sync();
    return stage_;
  }

  // Hands what all threads wrote to `store`, which issues copies in one thread: each thread's
  // release_to_async(), the group's barrier, store(), bulk_commit().
  template <class Group, class Store>
  INFLIGHT_DEVICE void commit(const Group& group, Store store) {
    release_to_async();
    group.sync();
    if (group.thread_rank() == 0) {
      store();
      bulk_commit();
    }
    if (++stage_ == Stages) stage_ = 0;
  }

  // Waits until all stores have read their stages.
  template <class Group>
  INFLIGHT_DEVICE void drain(const Group& group) const {
    if (group.thread_rank() == 0) bulk_wait_read<0>();
  }

 private:
  int stage_ = 0;
};

}  // namespace inflight
