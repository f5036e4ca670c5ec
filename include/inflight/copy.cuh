// Asynchronous copies by hand: cp.async from sm_80 on, bulk copies from sm_90 on.
//
// | from -> to | call | complete by |
// |---|---|---|
// | global -> shared, 4 to 16 bytes a thread | cp_async | cp_async_wait, arrive_on_copies |
// | global -> shared | bulk_load | transaction, or a barrier that expects the bytes |
// | global -> shared of several blocks | bulk_multicast | each block's barrier |
// | shared -> shared of another block | bulk_to_block | that block's barrier |
// | shared -> global | bulk_store, bulk_reduce | bulk_commit, bulk_wait, bulk_wait_read |
//
// A bulk copy is issued by one thread and belongs to the async proxy: what threads have written to
// its source in shared memory must be released to it first (release_to_async), by every thread that
// wrote, before the barrier behind which the one thread issues it. Loads need no such fence.
//
// CUDA C++ Programming Guide, "Asynchronous Data Copies"; PTX ISA, "Asynchronous copy".
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/impl/bulk_reduce.cuh>
#include <inflight/ptx/cluster.cuh>
#include <inflight/ptx/fence.cuh>

namespace inflight {

// --- cp.async ---

// Copies Bytes (4, 8 or 16; 16 for cache_operator::global) from global to shared memory; both
// addresses are multiples of Bytes. One instruction.
template <int Bytes,
          cache_operator Cache = Bytes == 16 ? cache_operator::global : cache_operator::all,
          l2_prefetch Level = l2_prefetch::none>
INFLIGHT_DEVICE void cp_async(void* shared, const void* global) {
  ptx::cp_async<Bytes, Cache, Level>(ptx::shared_address(shared), ptx::global_address(global));
}

// The same; only the first `valid` bytes (0 to Bytes) come from global memory, the rest is zero.
template <int Bytes,
          cache_operator Cache = Bytes == 16 ? cache_operator::global : cache_operator::all>
INFLIGHT_DEVICE void cp_async_zero_fill(void* shared, const void* global, std::uint32_t valid) {
  ptx::cp_async_zero_fill<Bytes, Cache>(ptx::shared_address(shared), ptx::global_address(global),
                                        valid);
}

// The same; zeros where `ignore`, whatever the source address is.
template <int Bytes,
          cache_operator Cache = Bytes == 16 ? cache_operator::global : cache_operator::all>
INFLIGHT_DEVICE void cp_async_ignore(void* shared, const void* global, bool ignore) {
  ptx::cp_async_ignore<Bytes, Cache>(ptx::shared_address(shared), ptx::global_address(global),
                                     ignore);
}

// The same with an L2 policy of createpolicy.
template <int Bytes,
          cache_operator Cache = Bytes == 16 ? cache_operator::global : cache_operator::all>
INFLIGHT_DEVICE void cp_async_policy(void* shared, const void* global, std::uint64_t policy) {
  ptx::cp_async_policy<Bytes, Cache>(ptx::shared_address(shared), ptx::global_address(global),
                                     policy);
}

// Closes this thread's group of copies.
INFLIGHT_DEVICE void cp_async_commit() { ptx::cp_async_commit_group(); }

// Waits until at most the `Newer` newest groups of this thread are in flight. The bytes of the
// others are there for this thread; for other threads, behind a barrier.
template <int Newer = 0>
INFLIGHT_DEVICE void cp_async_wait() {
  ptx::cp_async_wait_group<Newer>();
}
INFLIGHT_DEVICE void cp_async_wait_all() { ptx::cp_async_wait_all(); }

// --- bulk copies: sizes and addresses are multiples of 16 bytes ---

// What this thread wrote to shared memory may be read, or overwritten, by bulk and tensor copies
// that are issued behind the next barrier. fence.proxy.async.shared::cta.
template <class Chip = void>
INFLIGHT_DEVICE void release_to_async() {
  impl::require_bulk_copies<Chip>();
  ptx::fence_proxy_async_shared();
}

// From global to this block's shared memory. The barrier hears of the bytes; that it expects them
// is the caller's to say (`transaction` says it by itself).
template <class Chip = void>
INFLIGHT_DEVICE void bulk_load(void* shared, const void* global, std::uint32_t bytes,
                               const barrier<>& done) {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_load(ptx::shared_address(shared), ptx::global_address(global), bytes,
                          done.address());
}

// The same into every block of the cluster whose rank has its bit set in `ranks`: to the place, and
// with the barrier, that `shared` and `done` have in this block.
template <class Chip = void>
INFLIGHT_DEVICE void bulk_multicast(void* shared, const void* global, std::uint32_t bytes,
                                    const barrier<>& done, std::uint16_t ranks) {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_multicast(ptx::shared_address(shared), ptx::global_address(global), bytes,
                               done.address(), ranks);
}

// From this block's shared memory to that of block `rank` of the cluster, at the place of `there`
// in this block; that block's barrier hears of it.
template <class Chip = void>
INFLIGHT_DEVICE void bulk_to_block(void* there, const void* here, std::uint32_t bytes,
                                   unsigned rank, const barrier<>& done) {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_to_cluster(ptx::map_shared_to_rank(ptx::shared_address(there), rank),
                                ptx::shared_address(here), bytes,
                                ptx::map_shared_to_rank(done.address(), rank));
}

// From shared to global memory.
template <class Chip = void>
INFLIGHT_DEVICE void bulk_store(void* global, const void* shared, std::uint32_t bytes) {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_store(ptx::global_address(global), ptx::shared_address(shared), bytes);
}

// global[i] = Operation(global[i], shared[i]), each element atomically: relaxed, at device scope.
template <reduction_op Operation, class T>
INFLIGHT_DEVICE void bulk_reduce(T* global, const T* shared, std::uint32_t bytes) {
  impl::require_bulk_copies<T>();
  impl::reduce_to_global<Operation, T>::run(ptx::global_address(global),
                                            ptx::shared_address(shared), bytes);
}

// The same into the shared memory of block `rank`, whose barrier hears of it.
template <reduction_op Operation, class T>
INFLIGHT_DEVICE void bulk_reduce_to_block(T* there, const T* here, std::uint32_t bytes,
                                          unsigned rank, const barrier<>& done) {
  impl::require_bulk_copies<T>();
  impl::reduce_to_cluster<Operation, T>::run(
      ptx::map_shared_to_rank(ptx::shared_address(there), rank), ptx::shared_address(here), bytes,
      ptx::map_shared_to_rank(done.address(), rank));
}

// Brings bytes of global memory into L2.
template <class Chip = void>
INFLIGHT_DEVICE void bulk_prefetch(const void* global, std::uint32_t bytes) {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_prefetch(ptx::global_address(global), bytes);
}

// Closes this thread's group of bulk stores and reductions.
template <class Chip = void>
INFLIGHT_DEVICE void bulk_commit() {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_commit_group();
}

// Waits until at most the `Newer` newest groups are in flight: what the others write is there.
template <int Newer = 0, class Chip = void>
INFLIGHT_DEVICE void bulk_wait() {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_wait_group<Newer>();
}

// Waits until all but the `Newer` newest have read their sources, which may be written again.
template <int Newer = 0, class Chip = void>
INFLIGHT_DEVICE void bulk_wait_read() {
  impl::require_bulk_copies<Chip>();
  ptx::cp_async_bulk_wait_group_read<Newer>();
}

}  // namespace inflight
