// Converts the arguments of tensor_copy.cuh's functions to operands of instructions.
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/impl/require.cuh>
#include <inflight/swizzle.cuh>
#include <inflight/tensor_map.cuh>

namespace inflight {

// A coordinate: any integer type, so that {blockIdx.x * 64, y} needs no casts. 32 bits, signed.
struct tensor_coordinate {
  std::int32_t value;
  template <class Integer, class = std::enable_if_t<std::is_integral<Integer>::value>>
  INFLIGHT_HOST_DEVICE constexpr tensor_coordinate(Integer integer)
      : value(static_cast<std::int32_t>(integer)) {}
};

namespace impl {

template <int Rank>
struct tensor_coordinates {
  INFLIGHT_DEVICE explicit tensor_coordinates(const tensor_coordinate (&at)[Rank]) {
#pragma unroll
    for (int i = 0; i < Rank; ++i) value[i] = at[i].value;
  }
  std::int32_t value[Rank];
};

template <int Rank, int Offsets>
struct tensor_offsets {
  static_assert(Offsets == Rank - 2,
                "im2col takes an offset for each of W, H, D: two fewer than "
                "there are coordinates.");
  INFLIGHT_DEVICE explicit tensor_offsets(const tensor_coordinate (&by)[Offsets]) {
#pragma unroll
    for (int i = 0; i < Offsets; ++i) value[i] = static_cast<std::uint16_t>(by[i].value);
  }
  std::uint16_t value[Offsets];
};

// The number of dimensions in a map's type; 0 if the type has none.
template <class Map>
inline constexpr int map_rank = 0;
template <class Tile, int Rank>
inline constexpr int map_rank<tile_map<Tile, Rank>> = Rank;

// The map's generic address: in a kernel's parameters, constant or global memory. Rank is the
// number of coordinates of the copy, or 0.
template <int Rank = 0, class Map>
INFLIGHT_DEVICE std::uint64_t map_address(const Map& map) {
  static_assert(std::is_base_of<tensor_map, Map>::value, "A tensor copy needs a tensor_map.");
  static_assert(has_sm90<Map>, "Tensor copies need sm_90 or later: compile with -arch=sm_90a.");
  static_assert(Rank == 0 || map_rank<Map> == 0 || map_rank<Map> == Rank,
                "A copy needs as many coordinates as the map's tensor has dimensions: a "
                "tile_map<Tile> has two, a tile_map<Tile, 3> three.");
  return reinterpret_cast<std::uint64_t>(&map);
}

// The same for a copy to or from a box: a tile_map accepts only its own tile type, or plain memory.
template <class Map, class Box>
inline constexpr bool map_fits = true;
template <class Tile, int Rank, class Box>
inline constexpr bool map_fits<tile_map<Tile, Rank>, Box> =
    !is_box<Box> || std::is_same<Tile, Box>::value;

template <int Rank, class Map, class Box>
INFLIGHT_DEVICE std::uint64_t map_address(const Map& map, const Box&) {
  static_assert(map_fits<Map, Box>,
                "The map was made for a different tile: make it with "
                "make_tensor_map<Tile> of this tile's type.");
  return map_address<Rank>(map);
}

template <class Box, class = std::enable_if_t<is_box<Box>>>
INFLIGHT_DEVICE std::uint32_t box_address(const Box& box) {
  const std::uint32_t address = ptx::shared_address(&box);
  INFLIGHT_REQUIRE((address & (Box::alignment - 1)) == 0,
                   "a swizzled_tile must be at a multiple of its alignment; otherwise the swizzle "
                   "misplaces its elements: declare it __shared__, or take it from "
                   "dynamic_shared<T>()");
  return address;
}
template <class T>
INFLIGHT_DEVICE std::uint32_t box_address(const T* box) {
  return ptx::shared_address(box);
}

// Whether an element type of tensors has the reduction.
INFLIGHT_HOST_DEVICE constexpr bool tensor_type_reduces(tensor_type type, reduction_op op) {
  const bool order = op == reduction_op::min || op == reduction_op::max;
  const bool count = op == reduction_op::inc || op == reduction_op::dec;
  switch (type) {
    case tensor_type::u32:
      return true;
    case tensor_type::s32:
    case tensor_type::u64:
      return !count;
    case tensor_type::s64:
      return order;
    case tensor_type::f16:
    case tensor_type::bf16:
      return order || op == reduction_op::add;
    case tensor_type::u8:
    case tensor_type::u16:
      return false;
    case tensor_type::of_pointer:
      return true;  // options.type decides
    default:
      return op == reduction_op::add;
  }
}
template <reduction_op Operation, class Box>
INFLIGHT_HOST_DEVICE constexpr bool box_reduces() {
  if constexpr (is_box<Box>)
    return !is_half_pair<typename Box::value_type> &&
           tensor_type_reduces(tensor_type_of<typename Box::value_type>(), Operation);
  else
    return true;
}

// Pipelines whose stages bulk copies fill have copies(), a transaction.
template <class Done, class = void>
inline constexpr bool has_copies = false;
template <class Done>
inline constexpr bool has_copies<Done, std::void_t<decltype(impl::declval<Done&>().copies())>> =
    std::is_same<decltype(impl::declval<Done&>().copies()), transaction&>::value;

// The mbarrier on which a copy to `box` completes; adds the box's bytes to a transaction.
template <class Done, class Box>
INFLIGHT_DEVICE std::uint32_t mbarrier_of(Done& done, const Box& box) {
  if constexpr (std::is_same<Done, transaction>::value) {
    static_assert(is_box<Box>,
                  "A transaction counts the bytes of a swizzled_tile; for plain memory pass the "
                  "barrier, and add the bytes to the transaction with expect().");
    if constexpr (is_box<Box>) done.expect(Box::transaction_bytes);
    return done.mbarrier();
  } else if constexpr (std::is_convertible_v<Done&, const barrier<>&>) {
    const barrier<>& which = done;
    return which.address();
  } else if constexpr (std::is_convertible_v<Done&, const std::uint64_t*>) {
    const std::uint64_t* which = done;
    return ptx::shared_address(which);
  } else if constexpr (has_copies<Done>) {
    return mbarrier_of(done.copies(), box);
  } else {
    static_assert(never<Done, Box>,
                  "A tensor copy completes on a barrier<>, its std::uint64_t*, a transaction, or a "
                  "stage of a pipeline made by make_pipeline<transaction_bytes>; other pipelines "
                  "wait for threads, not for bytes.");
    return 0;
  }
}

}  // namespace impl
}  // namespace inflight
