// Boxes of one to five dimensions in shared memory, in the layout of a tensor copy: what a
// swizzled_tile is for two dimensions. Extents and indices have dimension 0 first, as the
// coordinates of copies do.
//
//   using box = inflight::swizzled_box<float, inflight::swizzle::b128, 32, 4, 6>;  // x, y, z
//   auto map = inflight::make_tensor_map<box>(pointer, {width, height, depth});
//   __shared__ box part;
//   ... copy_async(part, map, {x, y, z}, copies) ... part(i, j, k) ...
#pragma once
#include <inflight/swizzle.cuh>

namespace inflight {

// Rows, which lie along dimension 0, follow one another: `pitch` bytes apart, as in a tile.
template <class T, swizzle Swizzle, int Width, int... Extents>
struct swizzled_box {
  using value_type = T;
  static constexpr int rank = 1 + sizeof...(Extents);
  static constexpr swizzle mode = Swizzle;
  static constexpr int columns = Width;
  // All rows of the box.
  static constexpr int rows = (1 * ... * Extents);
  static constexpr std::uint32_t row_bytes = Width * sizeof(T);
  static constexpr std::uint32_t pitch =
      Swizzle == swizzle::none ? row_bytes : swizzle_span(Swizzle);
  static constexpr std::uint32_t alignment = swizzle_period(Swizzle);
  // Bytes that a load completes on its mbarrier.
  static constexpr std::uint32_t transaction_bytes = rows * row_bytes;

  static_assert(rank <= 5, "A box has one to five dimensions.");
  static_assert(Width > 0 && (... && (Extents > 0)), "A box has at least one element.");
  static_assert(Width <= 256 && (... && (Extents <= 256)),
                "A tensor copy's box has at most 256 elements per dimension: use several boxes.");
  static_assert(moves_as_bytes<T>,
                "A box's elements are copied as bytes: they must be trivially copyable, or "
                "specialize inflight::moves_as_bytes as true.");
  static_assert(swizzle_chunk % sizeof(T) == 0,
                "A box's elements must fit a 16-byte chunk: 1, 2, 4, 8 or 16 bytes each.");
  static_assert(row_bytes % swizzle_chunk == 0,
                "A row of a box must be a multiple of 16 bytes: use a larger first extent.");
  static_assert(Swizzle == swizzle::none || row_bytes <= swizzle_span(Swizzle),
                "A row of a box must not be wider than its swizzle's span (32, 64 or 128 bytes).");

  // The extents of all dimensions.
  INFLIGHT_HOST_DEVICE static constexpr int extent(int dimension) {
    const int all[] = {Width, Extents...};
    return all[dimension];
  }

  // The element at these indices, one for each dimension.
  template <class... Indices>
  INFLIGHT_HOST_DEVICE T& operator()(int x, Indices... more) {
    return *reinterpret_cast<T*>(bytes + offset(x, more...));
  }
  template <class... Indices>
  INFLIGHT_HOST_DEVICE const T& operator()(int x, Indices... more) const {
    return *reinterpret_cast<const T*>(bytes + offset(x, more...));
  }

  // Bytes from the box's start to the element.
  template <class... Indices>
  INFLIGHT_HOST_DEVICE static constexpr std::uint32_t offset(int x, Indices... more) {
    static_assert(sizeof...(Indices) == sizeof...(Extents),
                  "A box takes an index for each of its dimensions.");
    std::uint32_t row = 0, size = 1;
    static_cast<void>(((row += static_cast<std::uint32_t>(more) * size, size *= Extents), ..., 0));
    return impl::swizzled_place<Swizzle, pitch>(row, static_cast<std::uint32_t>(x) * sizeof(T));
  }

  INFLIGHT_HOST_DEVICE T* data() { return reinterpret_cast<T*>(bytes); }
  INFLIGHT_HOST_DEVICE const T* data() const { return reinterpret_cast<const T*>(bytes); }

  alignas(swizzle_period(Swizzle)) unsigned char bytes[rows * pitch];
};

namespace impl {
template <class T, swizzle Swizzle, int Width, int... Extents>
inline constexpr bool is_box<swizzled_box<T, Swizzle, Width, Extents...>> = true;
}  // namespace impl

}  // namespace inflight
