// Tensor maps: descriptions of a tensor in global memory and of the box that a tensor copy moves.
//
//   auto map = inflight::make_tensor_map(pointer, {width, height}, {64, 32});
//   if (!map) std::puts(map.error().message().c_str());   // or map.value(), which throws it
//   kernel<<<...>>>(*map);      // __global__ void kernel(const __grid_constant__ tensor_map map)
//
// The arguments are checked against every rule of the CUDA driver API, "Tensor Map Object
// Management", before the driver gets them, and the error names the wrong one. The driver's
// function is looked up at run time, so programs do not link libcuda. Copies are in
// tensor_copy.cuh, and instructions to change maps in kernels are in ptx/tensor_map.cuh. sm_90.
#pragma once
#include <inflight/base/host_device.cuh>
#include <inflight/impl/tensor_types.cuh>
#include <inflight/swizzle.cuh>
#include <inflight/swizzled_box.cuh>
#if !defined(__CUDACC_RTC__)
#  include <stdexcept>
#  include <string>
#endif

namespace inflight {

// 128 opaque bytes. A kernel takes it as `const __grid_constant__ tensor_map`, never by reference
// to host memory, and never copies it into a local variable, because copies need its address. In
// global memory it lies at a multiple of 64 bytes (128 where the kernel changes it).
struct alignas(64) tensor_map {
  std::uint64_t opaque[16];
};

// The map of a tensor of Rank dimensions whose boxes are Tiles (a swizzled_tile or a swizzled_box):
// a tensor_map, but copies of another tile, or with another number of coordinates, do not compile.
template <class Tile, int Rank = 2>
struct tile_map : tensor_map {
  static_assert(impl::is_box<Tile>, "A tile_map is for a swizzled_tile or a swizzled_box.");
  static_assert(Rank >= 1 && Rank <= 5, "A tensor has one to five dimensions.");
  static constexpr int rank = Rank;
};

#if !defined(__CUDACC_RTC__)  // from here on host code: maps are made there

// Up to five integers, one for each dimension. Dimension 0 is the innermost, whose elements are
// contiguous: the width of an image, the columns of a row-major matrix.
struct tensor_dims {
  int count = 0;
  std::int64_t value[5] = {};

  template <class... Integers>
  constexpr tensor_dims(Integers... values)
      : count(sizeof...(Integers)), value{static_cast<std::int64_t>(values)...} {
    static_assert(sizeof...(Integers) <= 5, "A tensor has at most five dimensions.");
  }
};

// One such integer, where the number of dimensions must be known at compile time.
struct tensor_extent {
  std::int64_t value;
  template <class Integer, class = std::enable_if_t<std::is_integral<Integer>::value>>
  constexpr tensor_extent(Integer integer) : value(static_cast<std::int64_t>(integer)) {}
};

// How channels lie in global memory: together, or in slices of 16 or 32 bytes as in NC/8HWC8 and
// NC/16HWC16. With slices the dimensions are W, H, D, slices, N.
enum class tensor_interleave : std::uint8_t { none, b16, b32 };

// How many bytes L2 fetches around those that a copy needs.
enum class tensor_l2_promotion : std::uint8_t { none, b64, b128, b256 };

// The value that a load gives elements outside the tensor; NaN for floating-point types only.
enum class tensor_fill : std::uint8_t { zero, nan };

struct tensor_map_options {
  // Bytes from one position to the next in dimensions 1 and up: one value fewer than there are
  // dimensions, each a multiple of 16. Empty: the tensor is packed.
  tensor_dims strides;
  // A box takes every n-th position of the dimension, n from 1 to 8. Empty: every position. The
  // value for dimension 0 has no effect.
  tensor_dims element_strides;
  tensor_type type = tensor_type::of_pointer;
  inflight::swizzle swizzle = inflight::swizzle::none;
  tensor_interleave interleave = tensor_interleave::none;
  tensor_l2_promotion l2_promotion = tensor_l2_promotion::none;
  tensor_fill fill = tensor_fill::zero;
  // Strides may be smaller than the extent they step over: windows overlap, or a row repeats.
  bool overlapping = false;
};

// The box of an im2col copy: a column of pixels, in the order of a convolution's filter.
struct im2col_box {
  // One value for each of W, H, D that the rank has. The bounding box begins at lower_corner,
  // relative to the tensor's first pixel, and ends at upper_corner, relative to its last. {-1, -1}
  // and {1, 1} are a padding of one pixel all round.
  tensor_dims lower_corner, upper_corner;
  int channels_per_pixel = 1;  // elements of dimension 0: 1 to 256
  int pixels_per_column = 1;   // 1 to 1024
};

// Why there is no map: `argument[index] = value rule: fix`.
struct tensor_map_error {
  std::string argument;  // its name in make_tensor_map
  int index = -1;        // in its list; -1 where it is not a list
  std::string value, rule, fix;

  // "strides[0] = 12 bytes must be a multiple of 16: pad each row to 16 bytes (4 more)"
  std::string message() const {
    std::string text = argument;
    if (index >= 0) text += "[" + std::to_string(index) + "]";
    if (!value.empty()) text += " = " + value;
    text += " " + rule;
    return fix.empty() ? text : text + ": " + fix;
  }
};

// A map, or the error that says why there is none.
template <class Map = tensor_map>
class tensor_map_result {
 public:
  tensor_map_result(const Map& map) : map_(map), good_(true) {}
  tensor_map_result(tensor_map_error error) : error_(std::move(error)) {}

  explicit operator bool() const { return good_; }
  // Only valid if there is a map.
  const Map& operator*() const { return map_; }
  // Throws std::invalid_argument with the error's message if there is no map.
  const Map& value() const {
    if (!good_) throw std::invalid_argument(error_.message());
    return map_;
  }
  const tensor_map_error& error() const { return error_; }

 private:
  Map map_{};
  tensor_map_error error_;
  bool good_ = false;
};

}  // namespace inflight

#  include <inflight/impl/tensor_map_encoding.cuh>

namespace inflight {

// The map of the tensor at `pointer` (device memory, a multiple of 16 bytes) of `extents` elements,
// for copies of `box` elements. Integers map to the type of their size, other one-byte types, such
// as those of cuda_fp8.h, to u8; see options.type.
template <class T>
tensor_map_result<> make_tensor_map(T* pointer, const tensor_dims& extents, const tensor_dims& box,
                                    const tensor_map_options& options = {}) {
  return impl::tensor_rules::encode_tiled(impl::tensor_rules::arguments(pointer, extents, options),
                                          box);
}

// The same for boxes that are a swizzled_tile: element type, box and swizzle come from the tile, so
// they always agree. The tile's columns and rows are dimensions 0 and 1; the box is 1 along further
// dimensions. A tensor of one dimension needs a tile of one row. The number of extents in braces is
// the map's rank: make_tensor_map<tile>(p, {width, height}) makes a tile_map<tile>, and {width,
// height, images} makes a tile_map<tile, 3>.
template <class Tile, int Rank>
tensor_map_result<tile_map<Tile, Rank>> make_tensor_map(const typename Tile::value_type* pointer,
                                                        const tensor_extent (&extents)[Rank],
                                                        const tensor_map_options& options = {}) {
  return impl::tensor_rules::encode_tile<Tile, Rank>(pointer, impl::tensor_rules::dims(extents),
                                                     options);
}

// The same for extents whose number is known only at run time; there must be Rank of them.
template <class Tile, int Rank = 2, class Dims,
          class = std::enable_if_t<std::is_same<Dims, tensor_dims>::value>>
tensor_map_result<tile_map<Tile, Rank>> make_tensor_map(const typename Tile::value_type* pointer,
                                                        const Dims& extents,
                                                        const tensor_map_options& options = {}) {
  return impl::tensor_rules::encode_tile<Tile, Rank>(pointer, extents, options);
}

// The map of an im2col tensor: extents are C, W, H, D, N; D, or H and D, may be left out.
template <class T>
tensor_map_result<> make_im2col_tensor_map(T* pointer, const tensor_dims& extents,
                                           const im2col_box& box,
                                           const tensor_map_options& options = {}) {
  return impl::tensor_rules::encode_im2col(impl::tensor_rules::arguments(pointer, extents, options),
                                           box);
}

// The same for columns that are a swizzled_tile: a row for each pixel, a column for each channel.
template <class Tile, int Rank>
tensor_map_result<tile_map<Tile, Rank>> make_im2col_tensor_map(
    const typename Tile::value_type* pointer, const tensor_extent (&extents)[Rank],
    const tensor_dims& lower_corner, const tensor_dims& upper_corner,
    const tensor_map_options& options = {}) {
  return impl::tensor_rules::encode_im2col_tile<Tile, Rank>(
      pointer, impl::tensor_rules::dims(extents), lower_corner, upper_corner, options);
}
template <class Tile, int Rank, class Dims,
          class = std::enable_if_t<std::is_same<Dims, tensor_dims>::value>>
tensor_map_result<tile_map<Tile, Rank>> make_im2col_tensor_map(
    const typename Tile::value_type* pointer, const Dims& extents, const tensor_dims& lower_corner,
    const tensor_dims& upper_corner, const tensor_map_options& options = {}) {
  return impl::tensor_rules::encode_im2col_tile<Tile, Rank>(pointer, extents, lower_corner,
                                                            upper_corner, options);
}

#endif
}  // namespace inflight
