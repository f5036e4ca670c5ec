// reduce: every thread of a group gives a value, and every thread gets their combination.
//
// Groups: thread_block_tile of 1 to 512 threads and coalesced_group, as in cooperative groups;
// whole blocks and clusters through with_scratch (collective_scratch.cuh). All threads of the group
// must call it. Values: any trivially copyable type of at most 32 bytes that the operator takes.
// Operators: those of operators.cuh, or any callable.
//
// What it compiles to. A tile of 32 and a coalesced group, integers and the library's operators:
// redux.sync (PTX ISA, "redux.sync"), one for up to 32 bits, two or three for 64; less and greater
// of floating-point numbers: the same on their bits, put in integer order. Everything else on a
// tile: shuffles in a butterfly, so that no broadcast follows: on 32 lanes 7 a word for values of
// up to 8 bytes, three at a time, and 5 a word for longer ones, and in blocks of many warps (16; 8
// for 8 bytes). Tiles name their own lanes, whoever else runs. A coalesced group: two shuffles a
// step and a last one. A block: one barrier, and each warp reduces the warps' results by itself;
// where redux.sync does not do it and the results are 8 or more and over 32 bytes (sums of float in
// blocks of 512 and 1024 threads), the first warp reduces them for all and a second barrier
// follows.
//
// Order. Within a warp the combination is the balanced tree over ranks, lower ranks on the left,
// whatever the kind of group and whichever lanes it has: the same values in the same ranks give the
// same bits, every time, on every chip, for floating-point sums too; and the operator needs to be
// associative, not commutative. Wide tiles, and blocks whose scratch's type says how many threads,
// continue the tree over warps; blocks of any size combine the warps' results from rank 0 on, as
// clusters do their blocks'. All threads get the same bits. `less` and `greater` of float, double,
// __half and __nv_bfloat16 are PTX's "min" and "max": a NaN gives way to a number, -0 is below +0;
// of __half2 and __nv_bfloat162, each half's by itself.
#pragma once
#include <inflight/impl/collective.cuh>
#include <inflight/impl/collective_atomic.cuh>
#include <inflight/operators.cuh>

namespace inflight {

// The combination of all threads' values, of the type op(value, value).
template <class Group, class T, class Op>
INFLIGHT_DEVICE auto reduce(const Group& group, T&& value, Op&& op) -> impl::result_of<T, Op> {
  return impl::collective<impl::result::reduction>(group,
                                                   static_cast<impl::result_of<T, Op>>(value), op);
}

// Reduces, and one thread combines the result into `target` atomically, or stores it there: nobody
// waits for that, and nothing is ordered by it. `target` is a variable of 4 or 8 bytes in global or
// shared memory, which other threads of the GPU may update at the same time: a plain one, or a
// class with a value_type and atomic members, cuda::atomic or cuda::atomic_ref, whose fetch_add and
// so on are then used, with memory_order_relaxed and in the scope that the class says. The value is
// converted to its type.
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
