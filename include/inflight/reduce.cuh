// reduce: every thread of a group passes a value and gets the combination of all values.
//
// Groups: thread_block_tile of 1 to 512 threads and coalesced_group, as in cooperative groups;
// whole blocks and clusters through with_scratch (collective_scratch.cuh). All threads of the group
// must call it. Values: any trivially copyable type of at most 32 bytes that the operator accepts.
// Operators: those of operators.cuh, or any callable.
//
// What it compiles to. A tile of 32 or a coalesced group, with integers and the library's
// operators: redux.sync (PTX ISA, "redux.sync"), one for up to 32 bits, two or three for 64. The
// same for less and greater of floating-point numbers, on their bits mapped to integer order.
// Everything else on a tile: a butterfly of shuffles, so no broadcast follows. On 32 lanes, values
// of up to 8 bytes take 7 a word, three at a time. Longer values take 5 a word, as do all values in
// blocks of many warps (16; 8 for 8 bytes). A tile's mask has its own lanes only, whichever others
// are active. A coalesced group: two shuffles a step and a last one. A block: one barrier, after
// which each warp reduces the warps' results. Where redux.sync cannot do that and the results are 8
// or more and over 32 bytes (sums of float in blocks of 512 and 1024 threads), the first warp
// reduces them for all and a second barrier follows.
//
// Order. Within a warp the combination is the balanced tree over ranks, lower ranks on the left,
// for every kind of group and any lanes. So the same values in the same ranks give the same bits,
// every time and on every chip, also for floating-point sums. The operator must be associative but
// need not be commutative. Wide tiles, and blocks whose scratch type states the number of threads,
// continue the tree over warps. Blocks of any size combine the warps' results one by one from rank
// 0, as clusters do with their blocks' results. All threads get the same bits. `less` and `greater`
// of float, double, __half and __nv_bfloat16 are PTX's "min" and "max": a number wins over a NaN,
// and -0 is below +0. For __half2 and __nv_bfloat162 they apply to each half.
#pragma once
#include <inflight/impl/collective.cuh>
#include <inflight/impl/collective_atomic.cuh>
#include <inflight/operators.cuh>

namespace inflight {

// The combination of all threads' values. Its type is that of op(value, value).
template <class Group, class T, class Op>
INFLIGHT_DEVICE auto reduce(const Group& group, T&& value, Op&& op) -> impl::result_of<T, Op> {
  return impl::collective<impl::result::reduction>(group,
                                                   static_cast<impl::result_of<T, Op>>(value), op);
}

// Reduces, then one thread atomically combines the result into `target`, or stores it there. No
// thread waits for that, and it orders no other accesses. `target` is a variable of 4 or 8 bytes in
// global or shared memory, which other threads of the GPU may update at the same time. It is a
// plain variable, or a class with a value_type and atomic members (cuda::atomic or
// cuda::atomic_ref), whose fetch_add and so on are then called with memory_order_relaxed, in the
// scope of the class. The result is converted to the target's type.
template <class Group, class Target, class T, class Op>
INFLIGHT_DEVICE void reduce_update_async(const Group& group, Target& target, T&& value, Op&& op) {
  const auto reduced = static_cast<impl::held<Target>>(impl::collective<impl::result::reduction>(
      group, static_cast<impl::result_of<T, Op>>(value), op));
  if (group.thread_rank() == 0) impl::update(target, reduced, op);
}
template <class Group, class Target, class T, class Op>
INFLIGHT_DEVICE void reduce_store_async(const Group& group, Target& target, T&& value, Op&& op) {
  const auto reduced = static_cast<impl::held<Target>>(impl::collective<impl::result::reduction>(
      group, static_cast<impl::result_of<T, Op>>(value), op));
  if (group.thread_rank() == 0) impl::store_relaxed(target, reduced);
}

// The same with a pointer: an ordinary store, of any type.
template <class Group, class Target, class T, class Op>
INFLIGHT_DEVICE void reduce_store_async(const Group& group, Target* target, T&& value, Op&& op) {
  const auto reduced = static_cast<Target>(impl::collective<impl::result::reduction>(
      group, static_cast<impl::result_of<T, Op>>(value), op));
  if (group.thread_rank() == 0) *target = reduced;
}

}  // namespace inflight
