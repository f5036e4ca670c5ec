// Swizzles of tensor copies, and shared tiles that apply them: PTX ISA, "Tensors: Swizzling Modes".
//
// A tensor copy can put the 16-byte chunks of a row into other places than their own, a different
// order in each of eight rows, so that the lanes of a warp that read down a column meet different
// banks. A swizzled_tile finds the element (row, column) again:
//
//   using tile = inflight::swizzled_tile<float, 32, 32, inflight::swizzle::b128>;
//   auto map = inflight::make_tensor_map<tile>(pointer, {width, height});  // its box, its swizzle
//   __shared__ tile box;
//   ... copy_async(box, map, {x, y}, barrier) ... box(row, column) ...
#pragma once
#include <inflight/bytes.cuh>
#include <inflight/impl/host_device.cuh>

namespace inflight {

// Bytes of a row within which its chunks change places: 32, 64 or 128. The row of a box may not be
// wider than that. The values are those of CUDA's CUtensorMapSwizzle and of tensormap.replace.
enum class swizzle : std::uint8_t { none, b32, b64, b128 };

// Bytes that a swizzle never parts.
inline constexpr std::uint32_t swizzle_chunk = 16;

// 32, 64 or 128; 0 for swizzle::none.
INFLIGHT_HOST_DEVICE constexpr std::uint32_t swizzle_span(swizzle mode) {
  return mode == swizzle::none ? 0 : swizzle_chunk << static_cast<unsigned>(mode);
}

// Bytes after which the pattern repeats: eight rows of a span, so 256, 512 or 1024. The pattern
// belongs to the address in shared memory: a box that begins at a multiple of this sees it from its
// start. For swizzle::none the 128 bytes to which every box of a tensor copy must be aligned.
INFLIGHT_HOST_DEVICE constexpr std::uint32_t swizzle_period(swizzle mode) {
  return mode == swizzle::none ? 128 : 8 * swizzle_span(mode);
}

// Where the byte at `offset` of the plain layout lies, counted from a multiple of
// swizzle_period(mode): the number of the chunk in its row (bits 4 and up) is combined by exclusive
// or with bits 7 and up, as many as the span has chunks. Its own inverse: it also tells which byte
// lies at `offset`. Compiles to a shift, an and, an exclusive or.
INFLIGHT_HOST_DEVICE constexpr std::uint32_t swizzled_offset(swizzle mode, std::uint32_t offset) {
  const std::uint32_t chunk_bits = mode == swizzle::none ? 0 : swizzle_span(mode) - swizzle_chunk;
  return offset ^ ((offset >> 3) & chunk_bits);
}

// A box of Rows x Columns elements in shared memory, as a tensor copy with this swizzle lays it
// out. To be declared __shared__, or laid over dynamic shared memory at a multiple of `alignment`.
// Rows lie `pitch` bytes apart: with a swizzle that is its span, so a narrower box leaves the rest
// of each row unused (and unwritten by copies), and takes memory for it.
template <class T, int Rows, int Columns, swizzle Swizzle = swizzle::none>
struct swizzled_tile {
  using value_type = T;
  static constexpr int rows = Rows, columns = Columns;
  static constexpr swizzle mode = Swizzle;
  // Bytes of a row that hold elements, and from row to row.
  static constexpr std::uint32_t row_bytes = Columns * sizeof(T);
  static constexpr std::uint32_t pitch =
      Swizzle == swizzle::none ? row_bytes : swizzle_span(Swizzle);
  // Of the shared address: PTX asks 128 of any tensor copy, the pattern more.
  static constexpr std::uint32_t alignment = swizzle_period(Swizzle);
  // What the mbarrier of a load hears of, elements out of range included, gaps between rows not.
  static constexpr std::uint32_t transaction_bytes = Rows * row_bytes;

  static_assert(Rows > 0 && Columns > 0, "A tile has at least one row and one column.");
  static_assert(moves_as_bytes<T>,
                "A tile's elements are copied as bytes: they must be trivially copyable, or "
                "inflight::moves_as_bytes say that their bytes are enough.");
  static_assert(swizzle_chunk % sizeof(T) == 0,
                "A tile's elements must fit a 16-byte chunk: 1, 2, 4, 8 or 16 bytes each.");
  static_assert(row_bytes % swizzle_chunk == 0,
                "A row of a tile must be a multiple of 16 bytes: use more columns.");
  static_assert(
      Swizzle == swizzle::none || row_bytes <= swizzle_span(Swizzle),
      "A row of a tile must not be wider than its swizzle's span (32, 64 or 128 bytes): use "
      "fewer columns and more tiles, a wider swizzle, or none.");
  static_assert(Rows <= 256 && Columns <= 256,
                "A tensor copy's box has at most 256 elements a dimension: use several tiles.");

  // The element, wherever the swizzle put it.
  INFLIGHT_HOST_DEVICE T& operator()(int row, int column) {
    return *reinterpret_cast<T*>(bytes + offset(row, column));
  }
  INFLIGHT_HOST_DEVICE const T& operator()(int row, int column) const {
    return *reinterpret_cast<const T*>(bytes + offset(row, column));
  }

  // Bytes from the beginning of the tile to the element: swizzled_offset(mode, row * pitch +
  // column * sizeof(T)), as a sum whose two parts change with row and column alone wherever one of
  // them is a constant. In an unrolled loop the exclusive or is thus taken once, not once for each
  // element.
  INFLIGHT_HOST_DEVICE static constexpr std::uint32_t offset(int row, int column) {
    const auto y = static_cast<std::uint32_t>(row);
    const std::uint32_t x = static_cast<std::uint32_t>(column) * sizeof(T);
    if constexpr (Swizzle == swizzle::none) {
      return y * pitch + x;
    } else {
      // The pattern goes on after each 128 bytes, which a narrow span fills with several rows.
      constexpr std::uint32_t rows_alike = 128 / pitch, chunks = pitch / swizzle_chunk;
      return y * pitch + (x ^ (y / rows_alike % chunks * swizzle_chunk));
    }
  }

  // The beginning of the tile, for copies.
  INFLIGHT_HOST_DEVICE T* data() { return reinterpret_cast<T*>(bytes); }
  INFLIGHT_HOST_DEVICE const T* data() const { return reinterpret_cast<const T*>(bytes); }

  alignas(swizzle_period(Swizzle)) unsigned char bytes[Rows * pitch];
};

namespace impl {
template <class T>
inline constexpr bool is_swizzled_tile = false;
template <class T, int Rows, int Columns, swizzle Swizzle>
inline constexpr bool is_swizzled_tile<swizzled_tile<T, Rows, Columns, Swizzle>> = true;
}  // namespace impl

}  // namespace inflight
