// Encodes tensor maps by the driver, after the rules have passed.
#pragma once
#include <inflight/impl/tensor_map_driver.cuh>
#include <inflight/impl/tensor_map_rules.cuh>

namespace inflight::impl::tensor_rules {

// Calls `encode` and returns the map, or an error with the driver's status.
template <class Encode>
tensor_map_result<> answer(const char* function, Encode encode) {
  tensor_map map;
  const int status = encode(&map);
  if (status == 0) return map;
  return broken(function, -1, number(status),
                std::string("is the driver's status (") +
                    cudaGetErrorString(static_cast<cudaError_t>(status)) + ")",
                "the driver enforces an undocumented rule");
}
inline tensor_map_error missing(const char* function) {
  return broken(
      function, -1, "", "is missing in the driver",
      "tensor maps need a GPU of compute capability 9.0 and a driver for CUDA 12.0 or later");
}

inline tensor_map_result<> encode_tiled(arguments a, const tensor_dims& box) {
  if (finding f = check_common(a)) return *f;
  if (finding f = check_box(a, box)) return *f;
  const char* name = "cuTensorMapEncodeTiled";
  const auto encode = driver_function<encode_tiled_function>(name);
  if (!encode) return missing(name);
  std::uint32_t box_dim[5] = {};
  for (int i = 0; i < box.count; ++i) box_dim[i] = static_cast<std::uint32_t>(box.value[i]);
  return answer(name, [&](void* map) {
    return encode(map, static_cast<int>(a.type), a.rank(), reinterpret_cast<void*>(a.pointer),
                  a.dim, a.strides, box_dim, a.element_strides,
                  static_cast<int>(a.options.interleave), static_cast<int>(a.options.swizzle),
                  static_cast<int>(a.options.l2_promotion), static_cast<int>(a.options.fill));
  });
}

inline tensor_map_result<> encode_im2col(arguments a, const im2col_box& box) {
  if (finding f = check_common(a)) return *f;
  if (finding f = check_im2col(a, box)) return *f;
  const char* name = "cuTensorMapEncodeIm2col";
  const auto encode = driver_function<encode_im2col_function>(name);
  if (!encode) return missing(name);
  int lower[3] = {}, upper[3] = {};
  for (int i = 0; i + 2 < a.rank(); ++i) {
    lower[i] = static_cast<int>(box.lower_corner.value[i]);
    upper[i] = static_cast<int>(box.upper_corner.value[i]);
  }
  return answer(name, [&](void* map) {
    return encode(map, static_cast<int>(a.type), a.rank(), reinterpret_cast<void*>(a.pointer),
                  a.dim, a.strides, lower, upper, box.channels_per_pixel, box.pixels_per_column,
                  a.element_strides, static_cast<int>(a.options.interleave),
                  static_cast<int>(a.options.swizzle), static_cast<int>(a.options.l2_promotion),
                  static_cast<int>(a.options.fill));
  });
}

// --- maps of tiles ---

template <int Rank>
tensor_dims dims(const tensor_extent (&extents)[Rank]) {
  static_assert(Rank <= 5, "A tensor has one to five dimensions.");
  tensor_dims all;
  for (int i = 0; i < Rank && i < 5; ++i) all.value[i] = extents[i].value;
  all.count = Rank;
  return all;
}

template <class Tile, int Rank>
tensor_map_result<tile_map<Tile, Rank>> for_tile(const tensor_map_result<>& map,
                                                 const tensor_dims& extents) {
  if (extents.count != Rank && extents.count >= 1)
    return broken("extents", -1, count(extents.count, "number"),
                  "must be the " + count(Rank, "dimension") + " of the map's type",
                  "make a tile_map<Tile, " + number(extents.count) + ">");
  if (!map) return map.error();
  tile_map<Tile, Rank> typed;
  static_cast<tensor_map&>(typed) = *map;
  return typed;
}

template <class Tile, int Rank>
tensor_map_result<tile_map<Tile, Rank>> encode_tile(const typename Tile::value_type* pointer,
                                                    const tensor_dims& extents,
                                                    tensor_map_options options) {
  options.swizzle = Tile::mode;
  tensor_dims box(Tile::columns, Tile::rows, 1, 1, 1);
  if constexpr (is_swizzled_tile<Tile>) {
    box.count = Tile::rows == 1 || extents.count > 1 ? extents.count : 2;
  } else {
    static_assert(Tile::rank <= Rank, "A box has no more dimensions than its tensor.");
    for (int i = 1; i < 5; ++i) box.value[i] = i < Tile::rank ? Tile::extent(i) : 1;
    box.count = extents.count;
  }
  return for_tile<Tile, Rank>(encode_tiled(arguments(pointer, extents, options), box), extents);
}

template <class Tile, int Rank>
tensor_map_result<tile_map<Tile, Rank>> encode_im2col_tile(const typename Tile::value_type* pointer,
                                                           const tensor_dims& extents,
                                                           const tensor_dims& lower_corner,
                                                           const tensor_dims& upper_corner,
                                                           tensor_map_options options) {
  options.swizzle = Tile::mode;
  const im2col_box box = {lower_corner, upper_corner, Tile::columns, Tile::rows};
  return for_tile<Tile, Rank>(encode_im2col(arguments(pointer, extents, options), box), extents);
}

}  // namespace inflight::impl::tensor_rules
