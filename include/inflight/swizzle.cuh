// Swizzles of tensor copies, and shared tiles that apply them: PTX ISA, "Tensors: Swizzling Modes".
//
// A tensor copy can permute the 16-byte chunks of a row, in a different order in each of eight
// rows, so that the lanes of a warp that read a column access different banks. A swizzled_tile
// computes where the element (row, column) is:
//
//   using tile = inflight::swizzled_tile<float, 32, 32, inflight::swizzle::b128>;
//   auto map = inflight::make_tensor_map<tile>(pointer, {width, height});  // its box, its swizzle
//   __shared__ tile box;
//   ... copy_async(box, map, {x, y}, barrier) ... box(row, column) ...
#pragma once
#include <inflight/base/host_device.cuh>
#include <inflight/bytes.cuh>

namespace inflight {

// Bytes of a row within which chunks are permuted: 32, 64 or 128. A box's row may not be wider. The
// values are those of CUDA's CUtensorMapSwizzle and of tensormap.replace.
enum class swizzle : std::uint8_t { none, b32, b64, b128 };

// Bytes of a chunk, which a swizzle never splits.
inline constexpr std::uint32_t swizzle_chunk = 16;

// 32, 64 or 128; 0 for swizzle::none.
INFLIGHT_HOST_DEVICE constexpr std::uint32_t swizzle_span(swizzle mode) {
  return mode == swizzle::none ? 0 : swizzle_chunk << static_cast<unsigned>(mode);
}

// Bytes after which the pattern repeats: eight rows of a span, so 256, 512 or 1024. The pattern
// depends on the address in shared memory: a box at a multiple of this starts at the pattern's
// start. For swizzle::none: 128, the alignment of every box of a tensor copy.
INFLIGHT_HOST_DEVICE constexpr std::uint32_t swizzle_period(swizzle mode) {
  return mode == swizzle::none ? 128 : 8 * swizzle_span(mode);
}

// The swizzled place of the byte at `offset` of the plain layout, relative to a multiple of
// swizzle_period(mode). The chunk's number in its row (bits 4 and up) is xored with bits 7 and up,
// as many as the span has chunks. The function is its own inverse. Compiles to a shift, an and, an
// exclusive or.
INFLIGHT_HOST_DEVICE constexpr std::uint32_t swizzled_offset(swizzle mode, std::uint32_t offset) {
  const std::uint32_t chunk_bits = mode == swizzle::none ? 0 : swizzle_span(mode) - swizzle_chunk;
  return offset ^ ((offset >> 3) & chunk_bits);
}

namespace impl {

// The place of byte x of row y.
template <swizzle Swizzle, std::uint32_t Pitch>
INFLIGHT_HOST_DEVICE constexpr std::uint32_t swizzled_place(std::uint32_t y, std::uint32_t x) {
  if constexpr (Swizzle == swizzle::none) {
    return y * Pitch + x;
  } else {
    // The pattern advances every 128 bytes, which hold several rows of a narrow span.
    constexpr std::uint32_t rows_alike = 128 / Pitch, chunks = Pitch / swizzle_chunk;
    return y * Pitch + (x ^ (y / rows_alike % chunks * swizzle_chunk));
  }
}

}  // namespace impl

// A box of Rows x Columns elements in shared memory, in the layout of a tensor copy with this
// swizzle. Declare it __shared__, or place it in dynamic shared memory at a multiple of
// `alignment`. Rows are `pitch` bytes apart. With a swizzle that is its span, so a narrower box
// leaves the rest of each row allocated but unused (copies do not write it).
template <class T, int Rows, int Columns, swizzle Swizzle = swizzle::none>
struct swizzled_tile {
  using value_type = T;
  static constexpr int rows = Rows, columns = Columns;
  static constexpr swizzle mode = Swizzle;
  // Bytes of a row's elements, and from one row to the next.
  static constexpr std::uint32_t row_bytes = Columns * sizeof(T);
  static constexpr std::uint32_t pitch =
      Swizzle == swizzle::none ? row_bytes : swizzle_span(Swizzle);
  // Of the shared address: PTX requires 128 for any tensor copy, the pattern may require more.
  static constexpr std::uint32_t alignment = swizzle_period(Swizzle);
  // Bytes that a load completes on its mbarrier: with elements out of range, without gaps between
  // rows.
  static constexpr std::uint32_t transaction_bytes = Rows * row_bytes;

  static_assert(Rows > 0 && Columns > 0, "A tile has at least one row and one column.");
  static_assert(moves_as_bytes<T>,
                "A tile's elements are copied as bytes: they must be trivially copyable, or "
                "specialize inflight::moves_as_bytes as true.");
  static_assert(swizzle_chunk % sizeof(T) == 0,
                "A tile's elements must fit a 16-byte chunk: 1, 2, 4, 8 or 16 bytes each.");
  static_assert(row_bytes % swizzle_chunk == 0,
                "A row of a tile must be a multiple of 16 bytes: use more columns.");
  static_assert(
      Swizzle == swizzle::none || row_bytes <= swizzle_span(Swizzle),
      "A row of a tile must not be wider than its swizzle's span (32, 64 or 128 bytes): use "
      "fewer columns and more tiles, a wider swizzle, or none.");
  static_assert(Rows <= 256 && Columns <= 256,
                "A tensor copy's box has at most 256 elements per dimension: use several tiles.");

  // The element at (row, column).
  INFLIGHT_HOST_DEVICE T& operator()(int row, int column) {
    return *reinterpret_cast<T*>(bytes + offset(row, column));
  }
  INFLIGHT_HOST_DEVICE const T& operator()(int row, int column) const {
    return *reinterpret_cast<const T*>(bytes + offset(row, column));
  }

  // Bytes from the tile's start to the element: swizzled_offset(mode, row * pitch + column *
  // sizeof(T)), written as a sum in which one part is constant if row or column is. So an unrolled
  // loop computes the exclusive or once, not once for each element.
  INFLIGHT_HOST_DEVICE static constexpr std::uint32_t offset(int row, int column) {
    return impl::swizzled_place<Swizzle, pitch>(static_cast<std::uint32_t>(row),
                                                static_cast<std::uint32_t>(column) * sizeof(T));
  }

  // The tile's start, for copies.
  INFLIGHT_HOST_DEVICE T* data() { return reinterpret_cast<T*>(bytes); }
  INFLIGHT_HOST_DEVICE const T* data() const { return reinterpret_cast<const T*>(bytes); }

  alignas(swizzle_period(Swizzle)) unsigned char bytes[Rows * pitch];
};

// Rows of a tile, from `first` on, as a tile of their own: its memory, for copies of a part.
// `first` is a multiple of the rows after which the swizzle repeats (8 for b128).
template <int Count, class T, int Rows, int Columns, swizzle Swizzle>
INFLIGHT_HOST_DEVICE swizzled_tile<T, Count, Columns, Swizzle>& tile_rows(
    swizzled_tile<T, Rows, Columns, Swizzle>& tile, int first) {
  using part = swizzled_tile<T, Count, Columns, Swizzle>;
  static_assert(Count <= Rows, "A part has no more rows than its tile.");
  static_assert(
      Count * part::pitch % part::alignment == 0,
      "A part's bytes are a multiple of the swizzle's period: 1024 for b128, 512 for b64, "
      "256 for b32.");
  return *reinterpret_cast<part*>(tile.bytes + static_cast<std::uint32_t>(first) * part::pitch);
}

namespace impl {
template <class T>
inline constexpr bool is_swizzled_tile = false;
template <class T, int Rows, int Columns, swizzle Swizzle>
inline constexpr bool is_swizzled_tile<swizzled_tile<T, Rows, Columns, Swizzle>> = true;

// A tile, or a swizzled_box.
template <class T>
inline constexpr bool is_box = is_swizzled_tile<T>;
}  // namespace impl

}  // namespace inflight
