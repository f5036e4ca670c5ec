// A copy from global to shared memory, divided among the threads of a group.
#pragma once
#include <inflight/ptx/address.cuh>
#include <inflight/ptx/cp_async.cuh>

namespace inflight::impl {

// Copies the part of [0, bytes) that belongs to `rank` among `threads`, in pieces of Bytes.
// `policy...` is nothing, or an L2 policy, here and below.
template <int Bytes, class... Policy>
INFLIGHT_DEVICE void copy_pieces(std::uint32_t dst, std::uint64_t src, std::uint32_t bytes,
                                 std::uint32_t rank, std::uint32_t threads, Policy... policy) {
  constexpr cache_operator kind = Bytes == 16 ? cache_operator::global : cache_operator::all;
  for (std::uint32_t at = rank * Bytes; at < bytes; at += threads * Bytes)
    ptx::cp_async<Bytes, kind>(dst + at, src + at, policy...);
}

// The same by ordinary loads and stores, from and to any memory.
template <class Piece, class Count>
INFLIGHT_HOST_DEVICE void copy_with_stores(void* to, const void* from, Count bytes,
                                           std::uint32_t rank, std::uint32_t threads) {
  for (Count at = rank; at < bytes / sizeof(Piece); at += threads)
    static_cast<Piece*>(to)[at] = static_cast<const Piece*>(from)[at];
}

// A single thread, as a group for copy_part.
struct one_thread {
  INFLIGHT_HOST_DEVICE static constexpr unsigned size() { return 1; }
  INFLIGHT_HOST_DEVICE static constexpr unsigned thread_rank() { return 0; }
  INFLIGHT_HOST_DEVICE static void sync() {}
};

// How the bytes of a copy move: by asynchronous copies, by ordinary stores, or by both.
struct copied {
  bool asynchronously, with_stores;
};

// Copies the calling thread's part of a group's copy from global to this block's shared memory,
// asynchronously and in the widest pieces that addresses and size allow. The caller promises that
// all three are multiples of `Alignment`. Ordinary loads and stores copy what cp.async cannot:
// pieces of fewer than 4 bytes or not aligned to 4. They take no policy.
template <int Alignment, class Group, class Size, class... Policy>
INFLIGHT_DEVICE copied copy_part_to_shared(const Group& group, void* to, const void* from,
                                           Size size, Policy... policy) {
  const auto rank = static_cast<std::uint32_t>(group.thread_rank());
  const auto threads = static_cast<std::uint32_t>(group.size());
  // Shared memory has fewer than 4 GiB.
  const auto bytes = static_cast<std::uint32_t>(size);
  const std::uint32_t dst = ptx::shared_address(to);
  const std::uint64_t src = ptx::global_address(from);
  const std::uint32_t low = dst | static_cast<std::uint32_t>(src);
  // The most frequent case has its own path, of one loop.
  if (Alignment >= 16 || ((low | bytes) & 15) == 0) {
    copy_pieces<16>(dst, src, bytes, rank, threads, policy...);
    return {true, false};
  }
  std::uint32_t done = 0;
  if ((low & 15) == 0) {
    done = bytes & ~15u;
    copy_pieces<16>(dst, src, done, rank, threads, policy...);
  } else if (Alignment >= 8 || (low & 7) == 0) {
    done = bytes & ~7u;
    copy_pieces<8>(dst, src, done, rank, threads, policy...);
  }
  if (Alignment >= 4 || (low & 3) == 0) {
    const std::uint32_t rest = (bytes & ~3u) - done;
    if (rest != 0) copy_pieces<4>(dst + done, src + done, rest, rank, threads, policy...);
    done += rest;
  }
  if (Alignment >= 4 && done == bytes) return {true, false};
  copy_with_stores<unsigned char>(static_cast<char*>(to) + done,
                                  static_cast<const char*>(from) + done, bytes - done, rank,
                                  threads);
  return {done > 0, done < bytes};
}

// The same between any memories, on host and device: by ordinary loads and stores where it is not
// from global to this block's shared memory.
INFLIGHT_CALLS_ARGUMENTS
template <int Alignment, class Group, class Size, class... Policy>
INFLIGHT_HOST_DEVICE copied copy_part(const Group& group, void* to, const void* from, Size size,
                                      [[maybe_unused]] Policy... policy) {
  // Usually known at compile time.
  INFLIGHT_ON_DEVICE(if (__isShared(to) && __isGlobal(from)) return copy_part_to_shared<Alignment>(
                         group, to, from, size, policy...);)
  const auto rank = static_cast<std::uint32_t>(group.thread_rank());
  const auto threads = static_cast<std::uint32_t>(group.size());
  const auto bytes = static_cast<std::size_t>(size);
  const auto low = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if (((low | bytes) & 3) == 0)
    copy_with_stores<std::uint32_t>(to, from, bytes, rank, threads);
  else
    copy_with_stores<unsigned char>(to, from, bytes, rank, threads);
  return {false, true};
}

// One thread's copy of Bytes, a compile-time multiple of 4.
template <int Bytes, int Alignment>
INFLIGHT_DEVICE void copy_own(void* shared, const void* global) {
  constexpr int piece = Alignment >= 16 && Bytes % 16 == 0 ? 16
                        : Alignment >= 8 && Bytes % 8 == 0 ? 8
                                                           : 4;
  const std::uint32_t dst = ptx::shared_address(shared);
  const std::uint64_t src = ptx::global_address(global);
  constexpr cache_operator kind = piece == 16 ? cache_operator::global : cache_operator::all;
#pragma unroll
  for (int at = 0; at < Bytes; at += piece) ptx::cp_async<piece, kind>(dst + at, src + at);
}

}  // namespace inflight::impl
