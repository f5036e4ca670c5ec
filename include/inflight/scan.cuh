// inclusive_scan, exclusive_scan: every thread of a group gives a value, and gets the combination
// of those of the ranks up to its own, or below it.
//
// Groups, values and operators as for reduce (reduce.cuh). Without an operator: the sum. The
// exclusive result of rank 0 is T{}, as in cooperative groups, whatever the operator.
//
// What it compiles to. A tile: shuffles, on 32 lanes 7 a word for values of up to 8 bytes, three at
// a time, and 5 a word for longer ones, and in blocks of many warps (16; 8 for 8 bytes); exclusive:
// one more, and none for sums of integers, which subtract. A coalesced group: two shuffles a step.
// A block: one barrier; each warp then combines the results of the warps below it. In blocks of 768
// threads and more, where redux.sync does not do that, the first warp scans the warps' results for
// all, and a second barrier follows.
//
// Order: always lower ranks on the left, and the operator needs to be associative, not commutative.
// What rank r gets depends on nothing but the values of ranks 0 to r, and for groups over more than
// a warp on the number of threads: the same bits every time. In floating point, the last rank's
// inclusive sum and reduce's need not be the same bits.
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

// Scans that go on from a variable. One thread combines the reduction of all values into `target`
// atomically, and every thread gets op(what the target held before, its result of the scan); from
// exclusive_scan_update, rank 0 gets what it held. So groups that share a counter each take their
// part of it: each thread of a group says how much it needs, and gets where its own begins.
// `target`: as for reduce_update_async. After the scan: the atomic, and one shuffle; in a wide tile
// the shuffle is a barrier, with scratch a reduction. Nothing else is ordered by it. CUDA C++
// Programming Guide, "inclusive_scan and exclusive_scan".
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
