// CUDA's names for barriers that count bytes and for bulk and tensor copies: cuda::device and
// cuda::device::experimental with `cuda` replaced by `inflight`. libcu++, "Extended API"; CUDA C++
// Programming Guide, "Asynchronous Data Copies using the Tensor Memory Accelerator". All but
// barrier_native_handle need sm_90.
//
// Each is one instruction, except where noted. In new programs a `transaction` (barrier.cuh) counts
// the bytes itself, and copy.cuh and tensor_copy.cuh have copies that know their tiles.
#pragma once
#include <inflight/impl/device_names.cuh>
#include <inflight/memcpy_async.cuh>
#include <inflight/ptx/fence.cuh>

namespace inflight::device {

// The barrier's 64 bits in shared memory, as PTX's mbarrier instructions take them.
INFLIGHT_DEVICE std::uint64_t* barrier_native_handle(barrier<>& bar) { return bar.native(); }

// Makes `arrivals` (1 or more) arrivals at once, and the phase also waits for `bytes` of copies.
// One arrival is mbarrier.arrive.expect_tx; more are mbarrier.expect_tx and mbarrier.arrive.
template <class Device = void>
INFLIGHT_DEVICE barrier<>::arrival_token barrier_arrive_tx(barrier<>& bar, std::ptrdiff_t arrivals,
                                                           std::ptrdiff_t bytes) {
  impl::require_sm90<Device>();
  const auto count = static_cast<std::uint32_t>(arrivals);
  const auto expected = static_cast<std::uint32_t>(bytes);
  if (count == 1) return ptx::mbarrier_arrive_expect_tx(bar.address(), expected);
  ptx::mbarrier_expect_tx(bar.address(), expected);
  return ptx::mbarrier_arrive(bar.address(), count);
}

// The current phase also waits for `bytes` of copies; makes no arrival. mbarrier.expect_tx.
template <class Device = void>
INFLIGHT_DEVICE void barrier_expect_tx(barrier<>& bar, std::ptrdiff_t bytes) {
  impl::require_sm90<Device>();
  ptx::mbarrier_expect_tx(bar.address(), static_cast<std::uint32_t>(bytes));
}

// One thread copies `bytes` from global to this block's shared memory, and the copy completes them
// on the barrier. The caller must make the barrier expect them. Addresses and size are multiples of
// 16, which aligned_size_t<16> promises. cp.async.bulk.
template <class T, std::size_t Alignment>
INFLIGHT_DEVICE async_contract_fulfillment memcpy_async_tx(T* dst, const T* src,
                                                           aligned_size_t<Alignment> bytes,
                                                           barrier<>& bar) {
  impl::require_sm90<T>();
  static_assert(Alignment >= 16,
                "A bulk copy's addresses and size are multiples of 16 bytes: pass "
                "aligned_size_t<16> or more.");
  static_assert(moves_as_bytes<T>,
                "A bulk copy moves bytes: its elements must be trivially copyable.");
  ptx::cp_async_bulk_load(ptx::shared_address(dst), ptx::global_address(src),
                          static_cast<std::uint32_t>(bytes.value), bar.address());
  return async_contract_fulfillment::async;
}

namespace experimental {

// --- bulk copies: one thread issues one; addresses and `bytes` are multiples of 16 ---

// From global to this block's shared memory; completes its bytes on the barrier. cp.async.bulk.
template <class Device = void>
INFLIGHT_DEVICE void cp_async_bulk_global_to_shared(void* dst, const void* src, std::uint32_t bytes,
                                                    barrier<>& bar) {
  impl::require_sm90<Device>();
  ptx::cp_async_bulk_load(ptx::shared_address(dst), ptx::global_address(src), bytes, bar.address());
}

// From shared to global memory, in this thread's current bulk group.
template <class Device = void>
INFLIGHT_DEVICE void cp_async_bulk_shared_to_global(void* dst, const void* src,
                                                    std::uint32_t bytes) {
  impl::require_sm90<Device>();
  ptx::cp_async_bulk_store(ptx::global_address(dst), ptx::shared_address(src), bytes);
}

// Commits this thread's group of stores. cp.async.bulk.commit_group.
template <class Device = void>
INFLIGHT_DEVICE void cp_async_bulk_commit_group() {
  impl::require_sm90<Device>();
  ptx::cp_async_bulk_commit_group();
}

// Waits until all groups but the `Newer` newest have read their sources, which may then be
// overwritten. cp.async.bulk.wait_group.read.
template <int Newer, class Device = void>
INFLIGHT_DEVICE void cp_async_bulk_wait_group_read() {
  impl::require_sm90<Device>();
  static_assert(Newer >= 0, "A number of groups cannot be negative.");
  ptx::cp_async_bulk_wait_group_read<Newer>();
}

// The same, until their writes are complete. cp.async.bulk.wait_group.
template <int Newer, class Device = void>
INFLIGHT_DEVICE void cp_async_bulk_wait_group() {
  impl::require_sm90<Device>();
  static_assert(Newer >= 0, "A number of groups cannot be negative.");
  ptx::cp_async_bulk_wait_group<Newer>();
}

// Makes what this thread wrote to shared memory visible to bulk and tensor copies issued after the
// next barrier. fence.proxy.async.shared::cta.
template <class Device = void>
INFLIGHT_DEVICE void fence_proxy_async_shared_cta() {
  impl::require_sm90<Device>();
  ptx::fence_proxy_async_shared();
}

// --- tensor copies: one thread issues one. `map` is a CUtensorMap or an inflight::tensor_map in
// --- the kernel's __grid_constant__ parameters, constant or global memory; the coordinates are
// --- those of the box's first element, dimension 0 first; the box in shared memory begins at a
// --- multiple of 128 bytes

// From the tensor to this block's shared memory. Completes the bytes of the whole box on the
// barrier, those out of range included. cp.async.bulk.tensor.
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_1d_global_to_shared(void* dst, const Map* map, int c0,
                                                              barrier<>& bar) {
  impl::tensor_to_shared<1>(dst, map, {c0}, bar);
}
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_2d_global_to_shared(void* dst, const Map* map, int c0,
                                                              int c1, barrier<>& bar) {
  impl::tensor_to_shared<2>(dst, map, {c0, c1}, bar);
}
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_3d_global_to_shared(void* dst, const Map* map, int c0,
                                                              int c1, int c2, barrier<>& bar) {
  impl::tensor_to_shared<3>(dst, map, {c0, c1, c2}, bar);
}
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_4d_global_to_shared(void* dst, const Map* map, int c0,
                                                              int c1, int c2, int c3,
                                                              barrier<>& bar) {
  impl::tensor_to_shared<4>(dst, map, {c0, c1, c2, c3}, bar);
}
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_5d_global_to_shared(void* dst, const Map* map, int c0,
                                                              int c1, int c2, int c3, int c4,
                                                              barrier<>& bar) {
  impl::tensor_to_shared<5>(dst, map, {c0, c1, c2, c3, c4}, bar);
}

// From shared memory to the tensor, in this thread's current bulk group. Elements past the tensor's
// end are left out; no coordinate may be negative.
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_1d_shared_to_global(const Map* map, int c0,
                                                              const void* src) {
  impl::shared_to_tensor<1>(map, {c0}, src);
}
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_2d_shared_to_global(const Map* map, int c0, int c1,
                                                              const void* src) {
  impl::shared_to_tensor<2>(map, {c0, c1}, src);
}
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_3d_shared_to_global(const Map* map, int c0, int c1,
                                                              int c2, const void* src) {
  impl::shared_to_tensor<3>(map, {c0, c1, c2}, src);
}
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_4d_shared_to_global(const Map* map, int c0, int c1,
                                                              int c2, int c3, const void* src) {
  impl::shared_to_tensor<4>(map, {c0, c1, c2, c3}, src);
}
template <class Map>
INFLIGHT_DEVICE void cp_async_bulk_tensor_5d_shared_to_global(const Map* map, int c0, int c1,
                                                              int c2, int c3, int c4,
                                                              const void* src) {
  impl::shared_to_tensor<5>(map, {c0, c1, c2, c3, c4}, src);
}

}  // namespace experimental
}  // namespace inflight::device
