// Low-level asynchronous copies: cp.async from sm_80 on, bulk copies from sm_90 on.
//
// | from -> to | call | complete by |
// |---|---|---|
// | global -> shared, 4 to 16 bytes a thread | cp_async | cp_async_wait, arrive_on_copies |
// | global -> shared | bulk_load | transaction, or a barrier that expects the bytes |
// | global -> shared of several blocks | bulk_multicast | each block's barrier |
// | shared -> shared of another block | bulk_to_block | that block's barrier |
// | registers -> shared of another block | store_to_block, reduce_to_block | that block's barrier |
// | shared -> global | bulk_store, bulk_reduce | bulk_commit, bulk_wait, bulk_wait_read |
//
// One thread issues a bulk copy, which belongs to the async proxy. Where threads have written its
// source in shared memory, each of them must call release_to_async() before the barrier after which
// the one thread issues the copy. Loads need no such fence.
//
// CUDA C++ Programming Guide, "Asynchronous Data Copies"; PTX ISA, "Asynchronous copy".
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/impl/bulk_reduce.cuh>
#include <inflight/impl/copy_policy.cuh>
#include <inflight/impl/remote_values.cuh>
#include <inflight/ptx/cluster.cuh>
#include <inflight/ptx/fence.cuh>

namespace inflight {

// --- cp.async ---

// In all copies, `policy...` is nothing, or an L2 policy: what cache_policy() or
// cache_policy_range() returned.

// Copies Bytes (4, 8 or 16; 16 for cache_operator::global) from global to shared memory; both
// addresses are multiples of Bytes. `Level` also prefetches the bytes around them into L2. One
// instruction.
template <int Bytes,
          cache_operator Cache = Bytes == 16 ? cache_operator::global : cache_operator::all,
          l2_prefetch Level = l2_prefetch::none, class... Policy>
INFLIGHT_DEVICE void cp_async(void* shared, const void* global, Policy... policy) {
  impl::require_policy<Policy...>();
  ptx::cp_async<Bytes, Cache, Level>(ptx::shared_address(shared), ptx::global_address(global),
                                     policy...);
}

// The same; only the first `valid` bytes (0 to Bytes) come from global memory, the rest are zeros.
template <int Bytes,
          cache_operator Cache = Bytes == 16 ? cache_operator::global : cache_operator::all,
          l2_prefetch Level = l2_prefetch::none, class... Policy>
INFLIGHT_DEVICE void cp_async_zero_fill(void* shared, const void* global, std::uint32_t valid,
                                        Policy... policy) {
  impl::require_policy<Policy...>();
  ptx::cp_async_zero_fill<Bytes, Cache, Level>(ptx::shared_address(shared),
                                               ptx::global_address(global), valid, policy...);
}

// The same; writes zeros if `ignore` is true, whatever the source address is.
template <int Bytes,
          cache_operator Cache = Bytes == 16 ? cache_operator::global : cache_operator::all,
          l2_prefetch Level = l2_prefetch::none, class... Policy>
INFLIGHT_DEVICE void cp_async_ignore(void* shared, const void* global, bool ignore,
                                     Policy... policy) {
  impl::require_policy<Policy...>();
  ptx::cp_async_ignore<Bytes, Cache, Level>(ptx::shared_address(shared),
                                            ptx::global_address(global), ignore, policy...);
}

// An older name of cp_async with a policy.
template <int Bytes,
          cache_operator Cache = Bytes == 16 ? cache_operator::global : cache_operator::all,
          l2_prefetch Level = l2_prefetch::none>
INFLIGHT_DEVICE void cp_async_policy(void* shared, const void* global, std::uint64_t policy) {
  cp_async<Bytes, Cache, Level>(shared, global, policy);
}

// Commits this thread's group of copies.
INFLIGHT_DEVICE void cp_async_commit() { ptx::cp_async_commit_group(); }

// Waits until at most the `Newer` newest groups of this thread are in flight. It then sees the
// others' bytes; other threads see them after a barrier.
template <int Newer = 0>
INFLIGHT_DEVICE void cp_async_wait() {
  ptx::cp_async_wait_group<Newer>();
}
INFLIGHT_DEVICE void cp_async_wait_all() { ptx::cp_async_wait_all(); }

// --- bulk copies: sizes and addresses are multiples of 16 bytes ---

// Lets bulk and tensor copies issued after the next barrier read, or overwrite, what this thread
// wrote to shared memory. fence.proxy.async.shared::cta.
template <class Chip = void>
INFLIGHT_DEVICE void release_to_async() {
  impl::require_bulk_copies<Chip>();
  ptx::fence_proxy_async_shared();
}

// From global to this block's shared memory. The copy completes its bytes on the barrier. The
// caller must make the barrier expect them (`transaction` does so by itself).
template <class Chip = void, class... Policy>
INFLIGHT_DEVICE void bulk_load(void* shared, const void* global, std::uint32_t bytes,
                               const barrier<>& done, Policy... policy) {
  impl::require_bulk_copies<Chip>();
  impl::require_policy<Policy...>();
  ptx::cp_async_bulk_load(ptx::shared_address(shared), ptx::global_address(global), bytes,
                          done.address(), policy...);
}

// The same into every block of the cluster whose rank has its bit set in `ranks`, at the offsets
// that `shared` and `done` have in this block.
template <class Chip = void, class... Policy>
INFLIGHT_DEVICE void bulk_multicast(void* shared, const void* global, std::uint32_t bytes,
                                    const barrier<>& done, std::uint16_t ranks, Policy... policy) {
  impl::require_bulk_copies<Chip>();
  impl::require_policy<Policy...>();
  ptx::cp_async_bulk_multicast(ptx::shared_address(shared), ptx::global_address(global), bytes,
                               done.address(), ranks, policy...);
}

// From this block's shared memory to that of block `rank` of the cluster, at the offset of `there`
// in this block. Completes on that block's barrier.
template <class Chip = void>
INFLIGHT_DEVICE void bulk_to_block(void* there, const void* here, std::uint32_t bytes,
                                   unsigned rank, const barrier<>& done) {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_to_cluster(ptx::map_shared_to_rank(ptx::shared_address(there), rank),
                                ptx::shared_address(here), bytes,
                                ptx::map_shared_to_rank(done.address(), rank));
}

// From shared to global memory.
template <class Chip = void, class... Policy>
INFLIGHT_DEVICE void bulk_store(void* global, const void* shared, std::uint32_t bytes,
                                Policy... policy) {
  impl::require_bulk_copies<Chip>();
  impl::require_policy<Policy...>();
  ptx::cp_async_bulk_store(ptx::global_address(global), ptx::shared_address(shared), bytes,
                           policy...);
}

// The same for some bytes only: bit i of `mask` says whether byte i of every 16 is written. sm_100.
template <class Chip = void, class... Policy>
INFLIGHT_DEVICE void bulk_store_masked(void* global, const void* shared, std::uint32_t bytes,
                                       std::uint16_t mask, Policy... policy) {
  impl::require_byte_masks<Chip>();
  impl::require_policy<Policy...>();
  ptx::cp_async_bulk_store_masked(ptx::global_address(global), ptx::shared_address(shared), bytes,
                                  mask, policy...);
}

// global[i] = Operation(global[i], shared[i]), each element atomically: relaxed, at device scope.
template <reduction_op Operation, class T, class... Policy>
INFLIGHT_DEVICE void bulk_reduce(T* global, const T* shared, std::uint32_t bytes,
                                 Policy... policy) {
  impl::require_bulk_copies<T>();
  impl::require_policy<Policy...>();
  impl::reduce_to_global<Operation, T>::run(ptx::global_address(global),
                                            ptx::shared_address(shared), bytes, policy...);
}

// The same into the shared memory of block `rank`; completes on that block's barrier.
template <reduction_op Operation, class T>
INFLIGHT_DEVICE void bulk_reduce_to_block(T* there, const T* here, std::uint32_t bytes,
                                          unsigned rank, const barrier<>& done) {
  impl::require_bulk_copies<T>();
  impl::reduce_to_cluster<Operation, T>::run(
      ptx::map_shared_to_rank(ptx::shared_address(there), rank), ptx::shared_address(here), bytes,
      ptx::map_shared_to_rank(done.address(), rank));
}

// One value of 4, 8 or 16 bytes from registers into the shared memory of block `rank`, at the
// offset of `there` in this block, which is a multiple of the value's size. Its bytes complete on
// that block's barrier. st.async.
template <class T>
INFLIGHT_DEVICE void store_to_block(T* there, const T& value, unsigned rank,
                                    const barrier<>& done) {
  impl::require_bulk_copies<T>();
  static_assert(moves_as_bytes<T>, "A value that is stored in another block moves as bytes.");
  impl::store_words<sizeof(T)>::run(ptx::map_shared_to_rank(ptx::shared_address(there), rank),
                                    &value, ptx::map_shared_to_rank(done.address(), rank));
}

// there = Operation(there, value), atomically, in the shared memory of block `rank`. The value's
// bytes complete on that block's barrier. red.async.
template <reduction_op Operation, class T>
INFLIGHT_DEVICE void reduce_to_block(T* there, T value, unsigned rank, const barrier<>& done) {
  impl::require_bulk_copies<T>();
  impl::reduce_value<Operation, T>::run(ptx::map_shared_to_rank(ptx::shared_address(there), rank),
                                        value, ptx::map_shared_to_rank(done.address(), rank));
}

// Prefetches bytes of global memory into L2.
template <class Chip = void, class... Policy>
INFLIGHT_DEVICE void bulk_prefetch(const void* global, std::uint32_t bytes, Policy... policy) {
  impl::require_bulk_copies<Chip>();
  impl::require_policy<Policy...>();
  ptx::cp_async_bulk_prefetch(ptx::global_address(global), bytes, policy...);
}

// Commits this thread's group of bulk stores and reductions.
template <class Chip = void>
INFLIGHT_DEVICE void bulk_commit() {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_commit_group();
}

// Waits until at most the `Newer` newest groups are in flight; the others' writes are complete.
template <int Newer = 0, class Chip = void>
INFLIGHT_DEVICE void bulk_wait() {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_wait_group<Newer>();
}

// Waits until all groups but the `Newer` newest have read their sources, which are then free.
template <int Newer = 0, class Chip = void>
INFLIGHT_DEVICE void bulk_wait_read() {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_wait_group_read<Newer>();
}

}  // namespace inflight
