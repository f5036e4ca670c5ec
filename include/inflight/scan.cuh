// inclusive_scan, exclusive_scan: every thread of a group passes a value. It gets the combination
// of the values of the ranks up to its own (inclusive) or below its own (exclusive).
//
// Groups, values and operators are those of reduce (reduce.cuh). The default operator is the sum.
// The exclusive result of rank 0 is T{}, as in cooperative groups, whatever the operator.
//
// What it compiles to. A tile: shuffles. On 32 lanes, values of up to 8 bytes take 7 a word, three
// at a time. Longer values take 5 a word, as do all values in blocks of many warps (16; 8 for 8
// bytes). An exclusive scan takes one more, but none for sums of integers, which subtract. A
// coalesced group: two shuffles a step. A block: one barrier, after which each warp combines the
// results of the warps below it. In blocks of 768 threads and more, unless redux.sync does that,
// the first warp scans the warps' results for all, and a second barrier follows.
//
// Order: lower ranks are always on the left, so the operator must be associative but need not be
// commutative. The result of rank r depends only on the values of ranks 0 to r and, for groups
// larger than a warp, on the number of threads: the same bits every time. In floating point, the
// last rank's inclusive sum and reduce's may differ in bits.
#pragma once
#include <inflight/impl/collective.cuh>
#include <inflight/impl/collective_atomic.cuh>
#include <inflight/operators.cuh>

namespace inflight {

// The combination of ranks 0 to thread_rank().
template <class Group, class T, class Op>
INFLIGHT_DEVICE auto inclusive_scan(const Group& group, T&& value, Op&& op)
    -> impl::result_of<T, Op> {
  return impl::collective<impl::result::inclusive>(group,
                                                   static_cast<impl::result_of<T, Op>>(value), op);
}
template <class Group, class T>
INFLIGHT_DEVICE std::decay_t<T> inclusive_scan(const Group& group, T&& value) {
  return inclusive_scan(group, value, plus<std::decay_t<T>>());
}

// The combination of ranks 0 to thread_rank() - 1; T{} for rank 0.
template <class Group, class T, class Op>
INFLIGHT_DEVICE auto exclusive_scan(const Group& group, T&& value, Op&& op)
    -> impl::result_of<T, Op> {
  return impl::collective<impl::result::exclusive>(group,
                                                   static_cast<impl::result_of<T, Op>>(value), op);
}
template <class Group, class T>
INFLIGHT_DEVICE std::decay_t<T> exclusive_scan(const Group& group, T&& value) {
  return exclusive_scan(group, value, plus<std::decay_t<T>>());
}

// Scans that continue from a variable. One thread atomically combines the reduction of all values
// into `target`, and every thread gets op(the old value of `target`, its result of the scan). From
// exclusive_scan_update, rank 0 gets the old value. With it, groups allocate from a shared counter:
// each thread passes how much it needs, and gets where its part begins. `target` is as for
// reduce_update_async. Cost after the scan: the atomic and one shuffle; in a wide tile the shuffle
// is a barrier, with scratch a reduction. It orders no other accesses. CUDA C++ Programming Guide,
// "inclusive_scan and exclusive_scan".
template <class Group, class Target, class T, class Op>
INFLIGHT_DEVICE auto inclusive_scan_update(const Group& group, Target& target, T&& value, Op&& op)
    -> impl::result_of<T, Op> {
  return impl::scan_update<impl::result::inclusive>(group, target,
                                                    static_cast<impl::result_of<T, Op>>(value), op);
}
template <class Group, class Target, class T>
INFLIGHT_DEVICE std::decay_t<T> inclusive_scan_update(const Group& group, Target& target,
                                                      T&& value) {
  return inclusive_scan_update(group, target, value, plus<std::decay_t<T>>());
}
template <class Group, class Target, class T, class Op>
INFLIGHT_DEVICE auto exclusive_scan_update(const Group& group, Target& target, T&& value, Op&& op)
    -> impl::result_of<T, Op> {
  return impl::scan_update<impl::result::exclusive>(group, target,
                                                    static_cast<impl::result_of<T, Op>>(value), op);
}
template <class Group, class Target, class T>
INFLIGHT_DEVICE std::decay_t<T> exclusive_scan_update(const Group& group, Target& target,
                                                      T&& value) {
  return exclusive_scan_update(group, target, value, plus<std::decay_t<T>>());
}

}  // namespace inflight
