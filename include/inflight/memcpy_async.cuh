// memcpy_async: a group, or one thread, copies bytes from global to shared memory without waiting
// for them.
//
// The copy is asynchronous (cp.async) as far as both addresses are multiples of 4, in pieces of 16
// bytes where addresses and size allow it. The remaining bytes, and copies in any other direction,
// are complete when the call returns. With aligned_size_t<16> the piece size is known at compile
// time; with a barrier too, the copy is a single bulk copy on sm_90 and later. A group is any
// object with size(), thread_rank() and, for wait, sync().
//
// All take an L2 policy (cache_policy.cuh) as their last argument.
//
// The copy is complete after wait(group) or wait_prior<N>(group), if called with a group only; with
// a pipeline, when its stage is full; with a barrier, when the phase in which the threads arrive
// completes. CUDA C++ Programming Guide, "memcpy_async" (of Cooperative Groups) and "Asynchronous
// Data Copies".
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/impl/strided_copy.cuh>
#include <inflight/ptx/fence.cuh>

namespace inflight {

// A number of bytes. The caller promises that it and the addresses used with it are multiples of
// Alignment.
template <std::size_t Alignment>
struct aligned_size_t {
  static_assert(Alignment > 0 && (Alignment & (Alignment - 1)) == 0,
                "An alignment is a power of two.");
  static constexpr std::size_t align = Alignment;
  std::size_t value;
  INFLIGHT_HOST_DEVICE explicit constexpr aligned_size_t(std::size_t bytes) : value(bytes) {}
  INFLIGHT_HOST_DEVICE constexpr operator std::size_t() const { return value; }
};

namespace impl {

template <class Size>
inline constexpr int alignment_of_size = 1;
template <std::size_t Alignment>
inline constexpr int alignment_of_size<aligned_size_t<Alignment>> = static_cast<int>(Alignment);

template <class T>
inline constexpr int alignment_of_type = static_cast<int>(alignof(T));
template <>
inline constexpr int alignment_of_type<void> = 1;

// The alignment of the addresses that the caller promises by the element's type and the size's
// type. The size itself may be any number, unless it is an aligned_size_t.
template <class T, class Size>
inline constexpr int promise = alignment_of_size<Size> >= 16
                                   ? 16
                                   : (alignment_of_type<T> > alignment_of_size<Size>
                                          ? (alignment_of_type<T> >= 8 ? 8 : alignment_of_type<T>)
                                          : alignment_of_size<Size>);

}  // namespace impl

// --- a group only: the form of cooperative groups ---

// Copies `bytes`, a number or an aligned_size_t. All threads of the group call it; each commits one
// cp.async group.
template <class Group, class T, class Size>
INFLIGHT_DEVICE void memcpy_async(const Group& group, T* to, const T* from, Size bytes) {
  impl::copy_part<impl::promise<T, Size>>(group, to, from, bytes);
  ptx::cp_async_commit_group();
}
template <class Group, class T, class Size>
INFLIGHT_DEVICE void memcpy_async(const Group& group, T* to, const T* from, Size bytes,
                                  std::uint64_t policy) {
  impl::copy_part<impl::promise<T, Size>>(group, to, from, bytes, policy);
  ptx::cp_async_commit_group();
}

// The same in elements: the smaller of both counts. An aligned count is a number of elements whose
// bytes are a multiple of the alignment.
template <class Group, class T, class ToCount, class FromCount>
INFLIGHT_DEVICE auto memcpy_async(const Group& group, T* to, ToCount to_count, const T* from,
                                  FromCount from_count)
    -> decltype(static_cast<std::size_t>(to_count), static_cast<std::size_t>(from_count), void()) {
  using promised =
      std::conditional_t<(impl::alignment_of_size<ToCount> < impl::alignment_of_size<FromCount>),
                         ToCount, FromCount>;
  const std::size_t of_to = to_count, of_from = from_count;
  impl::copy_part<impl::promise<T, promised>>(group, to, from,
                                              (of_to < of_from ? of_to : of_from) * sizeof(T));
  ptx::cp_async_commit_group();
}

// Waits until all but the `Newer` newest copies of the group are complete and visible to all its
// threads. cp.async.wait_group and a barrier of the group.
template <unsigned Newer, class Group>
INFLIGHT_DEVICE void wait_prior(const Group& group) {
  ptx::cp_async_wait_group<static_cast<int>(Newer)>();
  group.sync();
}

// Waits for all of them.
template <class Group>
INFLIGHT_DEVICE void wait(const Group& group) {
  wait_prior<0>(group);
}

// --- with a barrier ---

// Whether the barrier's phase, or the pipeline's stage, must be waited for before the bytes are
// seen. If not, they are there when the call returns. As cuda::async_contract_fulfillment.
enum class async_contract_fulfillment { none, async };

namespace impl {

INFLIGHT_HOST_DEVICE async_contract_fulfillment fulfilled(const copied& by) {
  return by.asynchronously ? async_contract_fulfillment::async : async_contract_fulfillment::none;
}

// The group's first thread makes the phase expect the bytes and issues one bulk copy. The fence
// orders what the group's threads did with the memory before, as ordinary accesses, with the copy.
template <class Group, class... Policy>
INFLIGHT_DEVICE void copy_in_bulk(const Group& group, void* to, const void* from,
                                  std::uint32_t bytes, std::uint32_t mbarrier, Policy... policy) {
  if (group.thread_rank() != 0 || bytes == 0) return;
  ptx::fence_proxy_async_shared();
  ptx::mbarrier_expect_tx(mbarrier, bytes);
  ptx::cp_async_bulk_load(ptx::shared_address(to), ptx::global_address(from), bytes, mbarrier,
                          policy...);
}

// The barrier's current phase also waits for the copies of the group's threads.
template <class T, class Group, class Size, class... Policy>
INFLIGHT_DEVICE async_contract_fulfillment copy_on_mbarrier(const Group& group, void* to,
                                                            const void* from, Size bytes,
                                                            std::uint32_t mbarrier,
                                                            Policy... policy) {
  if constexpr (has_sm90<T> && alignment_of_size<Size> >= 16) {
    if (__isShared(to) && __isGlobal(from)) {
      copy_in_bulk(group, to, from, static_cast<std::uint32_t>(bytes), mbarrier, policy...);
      return async_contract_fulfillment::async;
    }
  }
  const copied by = copy_part<promise<T, Size>>(group, to, from, bytes, policy...);
  ptx::cp_async_mbarrier_arrive(mbarrier);
  return fulfilled(by);
}

// The copy is complete when the call returns.
INFLIGHT_CALLS_ARGUMENTS
template <int Alignment, class Group, class Size>
INFLIGHT_HOST_DEVICE async_contract_fulfillment copy_now(const Group& group, void* to,
                                                         const void* from, Size bytes) {
  [[maybe_unused]] const copied by = copy_part<Alignment>(group, to, from, bytes);
  INFLIGHT_ON_DEVICE(if (by.asynchronously) ptx::cp_async_wait_all();)
  return async_contract_fulfillment::none;
}

}  // namespace impl

// The threads of the group copy, and the barrier's current phase also waits for their copies. The
// threads arrive as usual. cp.async.mbarrier.arrive; one cp.async.bulk for aligned_size_t<16> or
// more on sm_90. If the barrier is not an mbarrier, and on the host, the copy is complete when the
// call returns.
INFLIGHT_CALLS_ARGUMENTS
template <class Group, class T, class Size, class... Policy>
INFLIGHT_HOST_DEVICE async_contract_fulfillment memcpy_async(const Group& group, T* to,
                                                             const T* from, Size bytes,
                                                             [[maybe_unused]] barrier<>& done,
                                                             [[maybe_unused]] Policy... policy) {
  impl::require_policy<Policy...>();
  INFLIGHT_ON_DEVICE(if (done.is_mbarrier()) return impl::copy_on_mbarrier<T>(
                         group, to, from, bytes, done.address(), policy...);)
  return impl::copy_now<impl::promise<T, Size>>(group, to, from, bytes);
}
INFLIGHT_CALLS_ARGUMENTS
template <class Group, class Size, class... Policy>
INFLIGHT_HOST_DEVICE async_contract_fulfillment memcpy_async(const Group& group, void* to,
                                                             const void* from, Size bytes,
                                                             barrier<>& done, Policy... policy) {
  return memcpy_async<Group, void>(group, to, from, bytes, done, policy...);
}

// This thread alone copies.
template <class T, class Size, class... Policy>
INFLIGHT_HOST_DEVICE async_contract_fulfillment memcpy_async(T* to, const T* from, Size bytes,
                                                             barrier<>& done, Policy... policy) {
  return memcpy_async(impl::one_thread{}, to, from, bytes, done, policy...);
}
template <class Size, class... Policy>
INFLIGHT_HOST_DEVICE async_contract_fulfillment memcpy_async(void* to, const void* from, Size bytes,
                                                             barrier<>& done, Policy... policy) {
  return memcpy_async(impl::one_thread{}, to, from, bytes, done, policy...);
}

// --- with a barrier in ordinary memory, on which no copy completes ---

// The copy is complete when the call returns.
INFLIGHT_CALLS_ARGUMENTS
template <class Group, class T, class Size, thread_scope Scope, class Completion>
INFLIGHT_HOST_DEVICE async_contract_fulfillment memcpy_async(const Group& group, T* to,
                                                             const T* from, Size bytes,
                                                             barrier<Scope, Completion>&) {
  return impl::copy_now<impl::promise<T, Size>>(group, to, from, bytes);
}
INFLIGHT_CALLS_ARGUMENTS
template <class Group, class Size, thread_scope Scope, class Completion>
INFLIGHT_HOST_DEVICE async_contract_fulfillment memcpy_async(const Group& group, void* to,
                                                             const void* from, Size bytes,
                                                             barrier<Scope, Completion>& done) {
  return memcpy_async<Group, void>(group, to, from, bytes, done);
}
template <class T, class Size, thread_scope Scope, class Completion>
INFLIGHT_HOST_DEVICE async_contract_fulfillment memcpy_async(T* to, const T* from, Size bytes,
                                                             barrier<Scope, Completion>& done) {
  return memcpy_async(impl::one_thread{}, to, from, bytes, done);
}
template <class Size, thread_scope Scope, class Completion>
INFLIGHT_HOST_DEVICE async_contract_fulfillment memcpy_async(void* to, const void* from, Size bytes,
                                                             barrier<Scope, Completion>& done) {
  return memcpy_async(impl::one_thread{}, to, from, bytes, done);
}

}  // namespace inflight
