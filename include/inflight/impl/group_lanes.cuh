// Lane and rank arithmetic of groups, and exchanges of values word by word.
#pragma once
#include <inflight/bytes.cuh>
#include <inflight/impl/require.cuh>
#include <inflight/ptx/warp.cuh>

namespace inflight::impl {

// Applies `each` to every 32-bit word of a value; the unused bytes of the last word are zero.
template <class T, class Each>
INFLIGHT_DEVICE T by_words(const T& value, Each each) {
  static_assert(moves_as_bytes<T>,
                "a shuffled value moves as bytes: it must be trivially copyable, or specialize "
                "inflight::moves_as_bytes as true");
  static_assert(sizeof(T) <= 32, "a shuffled value must have at most 32 bytes");
  constexpr int count = (sizeof(T) + 3) / 4;
  std::uint32_t words[count];
  words[count - 1] = 0;
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < count; ++i) words[i] = each(words[i]);
  T result = value;
  memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result;
}

// The bytes of a value as a 32- or 64-bit integer, for comparison.
template <class T>
INFLIGHT_DEVICE auto comparable(const T& value) {
  static_assert(moves_as_bytes<T> && sizeof(T) <= 8,
                "match_any and match_all compare values of at most 8 bytes");
  std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t> bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return bits;
}

// The caller's rank among the lanes of `mask`.
INFLIGHT_DEVICE unsigned lanes_below_in(std::uint32_t mask) {
  return __popc(mask & ptx::lanes_below());
}

// The lane of the set bit that has `n` set bits below it.
INFLIGHT_DEVICE std::uint32_t nth_lane(std::uint32_t mask, std::uint32_t n) {
  if (n == 0) return __ffs(mask) - 1;
  if (mask == 0xffffffffu) return n;
  std::uint32_t lane = 0;
#pragma unroll
  for (int half = 16; half != 0; half /= 2) {
    const std::uint32_t below = __popc((mask >> lane) & ((1u << half) - 1));
    if (n >= below) n -= below, lane += half;
  }
  return lane;
}

// Compacts the bits of `lanes` that are in `mask`: bit r is that of the group's rank r.
INFLIGHT_DEVICE std::uint32_t lanes_to_ranks(std::uint32_t mask, std::uint32_t lanes) {
  if (mask == 0xffffffffu) return lanes;
  std::uint32_t ranks = 0;
  for (std::uint32_t bit = 1; mask != 0; bit <<= 1, mask &= mask - 1)
    if (lanes & mask & (0u - mask)) ranks |= bit;
  return ranks;
}

// The calling thread's rank in its block, x first.
INFLIGHT_DEVICE unsigned block_thread_rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
INFLIGHT_DEVICE unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// Mask of the lanes of the calling thread's warp that exist; a block's last warp may be partial.
INFLIGHT_DEVICE std::uint32_t lanes_of_block() {
  const unsigned left = block_threads() - (block_thread_rank() & ~31u);
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

INFLIGHT_DEVICE void require_tile_size(unsigned size) {
  INFLIGHT_REQUIRE(size > 0 && size <= 32 && (size & (size - 1)) == 0,
                   "tiled_partition cuts tiles of 1, 2, 4, 8, 16 or 32 threads");
}

// Mask of the aligned group of `size` lanes that contains the caller; `size` is a power of two.
INFLIGHT_DEVICE std::uint32_t lanes_beside(unsigned size) {
  if (size >= 32) return 0xffffffffu;
  return ((1u << size) - 1) << (ptx::lane_id() & (32 - size));
}

// Counts and ranks of blocks in their grid, x first, and of threads, block by block.
INFLIGHT_DEVICE unsigned long long grid_blocks() {
  return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
}
INFLIGHT_DEVICE unsigned long long grid_block_rank() {
  return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                          (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
}
INFLIGHT_DEVICE unsigned long long grid_threads() { return grid_blocks() * block_threads(); }
INFLIGHT_DEVICE unsigned long long grid_thread_rank() {
  return grid_block_rank() * block_threads() + block_thread_rank();
}

}  // namespace inflight::impl
