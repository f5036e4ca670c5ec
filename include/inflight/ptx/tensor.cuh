// Tensor copies: PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor",
// "cp.async.bulk.prefetch.tensor", sm_90. Changes to tensor maps are in ptx/tensor_map.cuh.
//
// One thread issues a copy. `map` is the generic address of a tensor map. `at` has the coordinates
// of the box's first element, dimension 0 first. The box in shared memory begins at a multiple of
// 128 bytes. Loads complete on an mbarrier by transaction bytes, stores and reductions by bulk
// groups (ptx/bulk.cuh). Each takes an L2 policy from createpolicy as an optional last argument.
#pragma once
#include <inflight/base/config.cuh>
#include <inflight/base/tensor_ranks.cuh>
#include <inflight/ptx/bulk.cuh>

namespace inflight::ptx {

template <int Rank>
using tensor_coordinates = const std::int32_t (&)[Rank];
// The offsets that im2col adds to W, H, D of every pixel.
template <int Offsets>
using im2col_offsets = const std::uint16_t (&)[Offsets];

#define INFLIGHT_LOAD(R, AT, COORDINATES, OFFSETS, N0, N1, N2, N3, N4, MODE, SUFFIX, MORE, ...) \
  if constexpr (Rank == R)                                                                      \
    asm volatile("cp.async.bulk.tensor." #R "d.shared::cluster.global." MODE                    \
                 ".mbarrier::complete_tx::bytes" SUFFIX " [" N0 "], [" N1 ", " COORDINATES      \
                 "], [" N2 "]" OFFSETS MORE(N3, N4) ";" ::AT,                                   \
                 "r"(dst), "l"(map), "r"(mbarrier)__VA_ARGS__                                   \
                 : "memory");

// global -> this block's shared memory.
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_load(std::uint32_t dst, std::uint64_t map,
                                               tensor_coordinates<Rank> at,
                                               std::uint32_t mbarrier) {
  INFLIGHT_TILE_RANKS(INFLIGHT_LOAD, "tile", "", INFLIGHT_NO_MORE, )
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_load(std::uint32_t dst, std::uint64_t map,
                                               tensor_coordinates<Rank> at, std::uint32_t mbarrier,
                                               std::uint64_t policy) {
  INFLIGHT_TILE_RANKS(INFLIGHT_LOAD, "tile", ".L2::cache_hint", INFLIGHT_ONE_MORE, , "l"(policy))
}

// The same, through the map of an im2col tensor: ranks 3 to 5.
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_load_im2col(std::uint32_t dst, std::uint64_t map,
                                                      tensor_coordinates<Rank> at,
                                                      im2col_offsets<Rank - 2> offset,
                                                      std::uint32_t mbarrier) {
  INFLIGHT_OFFSET_RANKS(INFLIGHT_LOAD, "im2col", "", INFLIGHT_NO_MORE, )
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_load_im2col(std::uint32_t dst, std::uint64_t map,
                                                      tensor_coordinates<Rank> at,
                                                      im2col_offsets<Rank - 2> offset,
                                                      std::uint32_t mbarrier,
                                                      std::uint64_t policy) {
  INFLIGHT_OFFSET_RANKS(INFLIGHT_LOAD, "im2col", ".L2::cache_hint", INFLIGHT_ONE_MORE, ,
                        "l"(policy))
}

// global -> the same offset in the shared memory of every block of the cluster whose rank has its
// bit set in `ranks`. The bytes complete on the mbarrier at the same offset in each block.
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_multicast(std::uint32_t dst, std::uint64_t map,
                                                    tensor_coordinates<Rank> at,
                                                    std::uint32_t mbarrier, std::uint16_t ranks) {
  INFLIGHT_TILE_RANKS(INFLIGHT_LOAD, "tile", ".multicast::cluster", INFLIGHT_ONE_MORE, , "h"(ranks))
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_multicast(std::uint32_t dst, std::uint64_t map,
                                                    tensor_coordinates<Rank> at,
                                                    std::uint32_t mbarrier, std::uint16_t ranks,
                                                    std::uint64_t policy) {
  INFLIGHT_TILE_RANKS(INFLIGHT_LOAD, "tile", ".multicast::cluster.L2::cache_hint",
                      INFLIGHT_TWO_MORE, , "h"(ranks), "l"(policy))
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_multicast_im2col(std::uint32_t dst, std::uint64_t map,
                                                           tensor_coordinates<Rank> at,
                                                           im2col_offsets<Rank - 2> offset,
                                                           std::uint32_t mbarrier,
                                                           std::uint16_t ranks) {
  INFLIGHT_OFFSET_RANKS(INFLIGHT_LOAD, "im2col", ".multicast::cluster", INFLIGHT_ONE_MORE, ,
                        "h"(ranks))
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_multicast_im2col(std::uint32_t dst, std::uint64_t map,
                                                           tensor_coordinates<Rank> at,
                                                           im2col_offsets<Rank - 2> offset,
                                                           std::uint32_t mbarrier,
                                                           std::uint16_t ranks,
                                                           std::uint64_t policy) {
  INFLIGHT_OFFSET_RANKS(INFLIGHT_LOAD, "im2col", ".multicast::cluster.L2::cache_hint",
                        INFLIGHT_TWO_MORE, , "h"(ranks), "l"(policy))
}
#undef INFLIGHT_LOAD

#define INFLIGHT_STORE(R, AT, COORDINATES, OFFSETS, N0, N1, N2, N3, N4, CP, MODE, SUFFIX, MORE, \
                       ...)                                                                     \
  if constexpr (Rank == R)                                                                      \
    asm volatile(CP ".async.bulk.tensor." #R "d.global.shared::cta." MODE ".bulk_group" SUFFIX  \
                    " [" N0 ", " COORDINATES "], [" N1 "]" MORE(N2, N3) ";" ::AT,               \
                 "l"(map), "r"(src)__VA_ARGS__                                                  \
                 : "memory");

// This block's shared memory -> global, except elements out of range; no coordinate may be
// negative.
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_store(std::uint64_t map, tensor_coordinates<Rank> at,
                                                std::uint32_t src) {
  INFLIGHT_TILE_RANKS(INFLIGHT_STORE, "cp", "tile", "", INFLIGHT_NO_MORE, )
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_store(std::uint64_t map, tensor_coordinates<Rank> at,
                                                std::uint32_t src, std::uint64_t policy) {
  INFLIGHT_TILE_RANKS(INFLIGHT_STORE, "cp", "tile", ".L2::cache_hint", INFLIGHT_ONE_MORE, ,
                      "l"(policy))
}

// The same, through the map of an im2col tensor, without offsets: ranks 3 to 5.
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_store_im2col(std::uint64_t map,
                                                       tensor_coordinates<Rank> at,
                                                       std::uint32_t src) {
  INFLIGHT_IM2COL_RANKS(INFLIGHT_STORE, "cp", "im2col_no_offs", "", INFLIGHT_NO_MORE, )
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_tensor_store_im2col(std::uint64_t map,
                                                       tensor_coordinates<Rank> at,
                                                       std::uint32_t src, std::uint64_t policy) {
  INFLIGHT_IM2COL_RANKS(INFLIGHT_STORE, "cp", "im2col_no_offs", ".L2::cache_hint",
                        INFLIGHT_ONE_MORE, , "l"(policy))
}

#define INFLIGHT_REDUCE(RANKS, MODE, ...)                                                    \
  if constexpr (Op == reduction_op::add) {                                                   \
    RANKS(INFLIGHT_STORE, "cp.reduce", "add." MODE, __VA_ARGS__)                             \
  } else if constexpr (Op == reduction_op::min) {                                            \
    RANKS(INFLIGHT_STORE, "cp.reduce", "min." MODE, __VA_ARGS__)                             \
  } else if constexpr (Op == reduction_op::max) {                                            \
    RANKS(INFLIGHT_STORE, "cp.reduce", "max." MODE, __VA_ARGS__)                             \
  } else if constexpr (Op == reduction_op::inc) {                                            \
    RANKS(INFLIGHT_STORE, "cp.reduce", "inc." MODE, __VA_ARGS__)                             \
  } else if constexpr (Op == reduction_op::dec) {                                            \
    RANKS(INFLIGHT_STORE, "cp.reduce", "dec." MODE, __VA_ARGS__)                             \
  } else if constexpr (Op == reduction_op::bit_and) {                                        \
    RANKS(INFLIGHT_STORE, "cp.reduce", "and." MODE, __VA_ARGS__)                             \
  } else if constexpr (Op == reduction_op::bit_or) {                                         \
    RANKS(INFLIGHT_STORE, "cp.reduce", "or." MODE, __VA_ARGS__)                              \
  } else {                                                                                   \
    static_assert(Op == reduction_op::bit_xor, "Tensor copies do not have this reduction."); \
    RANKS(INFLIGHT_STORE, "cp.reduce", "xor." MODE, __VA_ARGS__)                             \
  }

// global = Op(global, this block's shared memory), each element atomically. Operations by the map's
// element type: 4- and 8-byte integers have add, min, max and the bitwise ones (s64: min and max
// only), u32 also inc and dec, f16 and bf16 add, min and max, f32 and f64 add.
template <reduction_op Op, int Rank>
INFLIGHT_DEVICE void cp_reduce_async_bulk_tensor(std::uint64_t map, tensor_coordinates<Rank> at,
                                                 std::uint32_t src) {
  INFLIGHT_REDUCE(INFLIGHT_TILE_RANKS, "tile", "", INFLIGHT_NO_MORE, )
}
template <reduction_op Op, int Rank>
INFLIGHT_DEVICE void cp_reduce_async_bulk_tensor(std::uint64_t map, tensor_coordinates<Rank> at,
                                                 std::uint32_t src, std::uint64_t policy) {
  INFLIGHT_REDUCE(INFLIGHT_TILE_RANKS, "tile", ".L2::cache_hint", INFLIGHT_ONE_MORE, , "l"(policy))
}
template <reduction_op Op, int Rank>
INFLIGHT_DEVICE void cp_reduce_async_bulk_tensor_im2col(std::uint64_t map,
                                                        tensor_coordinates<Rank> at,
                                                        std::uint32_t src) {
  INFLIGHT_REDUCE(INFLIGHT_IM2COL_RANKS, "im2col_no_offs", "", INFLIGHT_NO_MORE, )
}
template <reduction_op Op, int Rank>
INFLIGHT_DEVICE void cp_reduce_async_bulk_tensor_im2col(std::uint64_t map,
                                                        tensor_coordinates<Rank> at,
                                                        std::uint32_t src, std::uint64_t policy) {
  INFLIGHT_REDUCE(INFLIGHT_IM2COL_RANKS, "im2col_no_offs", ".L2::cache_hint", INFLIGHT_ONE_MORE, ,
                  "l"(policy))
}
#undef INFLIGHT_REDUCE
#undef INFLIGHT_STORE

#define INFLIGHT_PREFETCH(R, AT, COORDINATES, OFFSETS, N0, N1, N2, N3, N4, MODE, SUFFIX, MORE, \
                          ...)                                                                 \
  if constexpr (Rank == R)                                                                     \
    asm volatile("cp.async.bulk.prefetch.tensor." #R "d.L2.global." MODE SUFFIX " [" N0        \
                 ", " COORDINATES "]" OFFSETS MORE(N1, N2) ";" ::AT,                           \
                 "l"(map)__VA_ARGS__                                                           \
                 : "memory");

// Prefetches a box into L2.
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_prefetch_tensor(std::uint64_t map, tensor_coordinates<Rank> at) {
  INFLIGHT_TILE_RANKS(INFLIGHT_PREFETCH, "tile", "", INFLIGHT_NO_MORE, )
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_prefetch_tensor(std::uint64_t map, tensor_coordinates<Rank> at,
                                                   std::uint64_t policy) {
  INFLIGHT_TILE_RANKS(INFLIGHT_PREFETCH, "tile", ".L2::cache_hint", INFLIGHT_ONE_MORE, ,
                      "l"(policy))
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_prefetch_tensor_im2col(std::uint64_t map,
                                                          tensor_coordinates<Rank> at,
                                                          im2col_offsets<Rank - 2> offset) {
  INFLIGHT_OFFSET_RANKS(INFLIGHT_PREFETCH, "im2col", "", INFLIGHT_NO_MORE, )
}
template <int Rank>
INFLIGHT_DEVICE void cp_async_bulk_prefetch_tensor_im2col(std::uint64_t map,
                                                          tensor_coordinates<Rank> at,
                                                          im2col_offsets<Rank - 2> offset,
                                                          std::uint64_t policy) {
  INFLIGHT_OFFSET_RANKS(INFLIGHT_PREFETCH, "im2col", ".L2::cache_hint", INFLIGHT_ONE_MORE, ,
                        "l"(policy))
}
#undef INFLIGHT_PREFETCH

}  // namespace inflight::ptx
