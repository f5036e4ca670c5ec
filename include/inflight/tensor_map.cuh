// Tensor maps: what a tensor copy knows of the tensor in global memory and of its box.
//
//   auto map = inflight::make_tensor_map(pointer, {width, height}, {64, 32});
//   if (!map) std::puts(map.error().message().c_str());   // or map.value(), which throws it
//   kernel<<<...>>>(*map);      // __global__ void kernel(const __grid_constant__ tensor_map map)
//
// The arguments are checked against every rule of the CUDA driver API, "Tensor Map Object
// Management", before the driver sees them, and the one that breaks a rule is named. The driver's
// function is looked up at run time: programs do not link libcuda. Copies are in tensor_copy.cuh; a
// kernel that changes maps finds its instructions in ptx/tensor_map.cuh. sm_90.
#pragma once
#include <inflight/impl/host_device.cuh>
#include <inflight/impl/tensor_types.cuh>
#include <inflight/swizzle.cuh>
#if !defined(__CUDACC_RTC__)
#  include <stdexcept>
#  include <string>
#endif

namespace inflight {

// The 128 opaque bytes. A kernel takes it as `const __grid_constant__ tensor_map`, never by
// reference to host memory, and never copies it into a local variable: copies need its address. One
// that lies in global memory must be a multiple of 64 bytes (128 where the kernel changes it).
struct alignas(64) tensor_map {
  std::uint64_t opaque[16];
};

// The map of a tensor of Rank dimensions whose boxes are Tiles (a swizzled_tile): a tensor_map, but
// copying to or from another tile through it, or with fewer or more coordinates, does not compile.
template <class Tile, int Rank = 2>
struct tile_map : tensor_map {
  static_assert(impl::is_swizzled_tile<Tile>, "A tile_map is for a swizzled_tile.");
  static_assert(Rank >= 1 && Rank <= 5, "A tensor has one to five dimensions.");
  static constexpr int rank = Rank;
};

#if !defined(__CUDACC_RTC__)  // from here on host code: maps are made there

// Up to five integers, one a dimension. Dimension 0 is the innermost, whose elements lie together:
// the width of an image, the columns of a row-major matrix.
struct tensor_dims {
  int count = 0;
  std::int64_t value[5] = {};

  template <class... Integers>
  constexpr tensor_dims(Integers... values)
      : count(sizeof...(Integers)), value{static_cast<std::int64_t>(values)...} {
    static_assert(sizeof...(Integers) <= 5, "A tensor has at most five dimensions.");
  }
};

// One of them, where the number of dimensions is to be known when compiled.
struct tensor_extent {
  std::int64_t value;
  template <class Integer, class = std::enable_if_t<std::is_integral<Integer>::value>>
  constexpr tensor_extent(Integer integer) : value(static_cast<std::int64_t>(integer)) {}
};

// How channels lie in global memory: together, or in slices of 16 or 32 bytes as in NC/8HWC8 and
// NC/16HWC16. With slices the dimensions are W, H, D, slices, N.
enum class tensor_interleave : std::uint8_t { none, b16, b32 };

// How much around what it needs L2 is asked to fetch.
enum class tensor_l2_promotion : std::uint8_t { none, b64, b128, b256 };

// What elements out of range read as; NaN for floating-point types alone.
enum class tensor_fill : std::uint8_t { zero, nan };

struct tensor_map_options {
  // Bytes from position to position of dimensions 1 and up: one fewer than there are dimensions,
  // each a multiple of 16. None: the tensor is packed.
  tensor_dims strides;
  // A box takes every so manieth position, 1 to 8; none: every one. Dimension 0 has no such step.
  tensor_dims element_strides;
  tensor_type type = tensor_type::of_pointer;
  inflight::swizzle swizzle = inflight::swizzle::none;
  tensor_interleave interleave = tensor_interleave::none;
  tensor_l2_promotion l2_promotion = tensor_l2_promotion::none;
  tensor_fill fill = tensor_fill::zero;
  // Strides may be smaller than what they step over: windows that overlap, a row seen many times.
  bool overlapping = false;
};

// What an im2col copy takes: a column of pixels, as a convolution's filter meets them.
struct im2col_box {
  // Of W, H, D without those that the rank leaves out: where the bounding box begins, counted from
  // the tensor's first pixel, and where it ends, counted from its last. {-1, -1} and {1, 1} are a
  // padding of one pixel all round.
  tensor_dims lower_corner, upper_corner;
  int channels_per_pixel = 1;  // elements of dimension 0: 1 to 256
  int pixels_per_column = 1;   // 1 to 1024
};

// Why there is no map: `argument[index] = value rule: fix`.
struct tensor_map_error {
  std::string argument;  // as make_tensor_map calls it
  int index = -1;        // in its list; -1 where it is none
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

// A map, or the reason why there is none.
template <class Map = tensor_map>
class tensor_map_result {
 public:
  tensor_map_result(const Map& map) : map_(map), good_(true) {}
  tensor_map_result(tensor_map_error error) : error_(std::move(error)) {}

  explicit operator bool() const { return good_; }
  // Only where there is one.
  const Map& operator*() const { return map_; }
  // Throws std::invalid_argument with the error's message where there is none.
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

#  include <inflight/impl/tensor_map_rules.cuh>

namespace inflight {

// The map of the tensor at `pointer` (device memory, a multiple of 16 bytes) of `extents` elements,
// for copies of `box` elements. Integers stand for those of their size, other types of one byte,
// such as those of cuda_fp8.h, for u8; see options.type.
template <class T>
tensor_map_result<> make_tensor_map(T* pointer, const tensor_dims& extents, const tensor_dims& box,
                                    const tensor_map_options& options = {}) {
  return impl::tensor_rules::encode_tiled(impl::tensor_rules::arguments(pointer, extents, options),
                                          box);
}

// The same for boxes that are a swizzled_tile: element type, box and swizzle are the tile's, so
// that they agree. The tile's columns and rows are dimensions 0 and 1; the box is 1 along further
// ones. A tensor of one dimension wants a tile of one row. The number of extents in braces is the
// map's number of dimensions: make_tensor_map<tile>(p, {width, height}) makes a tile_map<tile>,
// with {width, height, images} a tile_map<tile, 3>.
template <class Tile, int Rank>
tensor_map_result<tile_map<Tile, Rank>> make_tensor_map(const typename Tile::value_type* pointer,
                                                        const tensor_extent (&extents)[Rank],
                                                        const tensor_map_options& options = {}) {
  return impl::tensor_rules::encode_tile<Tile, Rank>(pointer, impl::tensor_rules::dims(extents),
                                                     options);
}

// The same for extents that are counted when the program runs: there must be Rank of them.
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
