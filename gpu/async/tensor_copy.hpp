// The bytes that a tensor copy moves (PTX ISA, "Tensors: Tiled mode, im2col mode, Interleave
// layout, Swizzling modes"; cp.async.bulk.tensor). A copy is a sequence of runs. A run's bytes are
// contiguous in shared and in global memory, or are out of range and have no place in global
// memory.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "gpu/async/reduction.hpp"
#include "gpu/async/tensor_map.hpp"
#include "gpu/async/violation.hpp"

namespace inflight::async {

// The operands of a copy other than its map.
struct TensorPlace {
  std::array<std::int32_t, max_tensor_rank> at{};  // tensorCoords, dimension 0 first
  std::array<std::uint16_t, 3> offset{};           // im2col: added to W, H, D of every pixel
  std::uint32_t shared = 0;                        // address of the box in shared memory
};

struct TensorRun {
  std::uint32_t shared = 0;  // address, swizzled
  std::uint32_t bytes = 0;
  std::uint64_t global = 0;  // address, if inside
  bool inside = false;       // if not: filled by a load, skipped by a store
};

// A reduction counts as a store.
enum class TensorDirection : std::uint8_t { load, store };

// The layout of a map's box in shared memory: consecutive rows of dimension 0, or slices.
struct TensorBox {
  std::uint32_t row_bytes = 0;  // of the box
  std::uint32_t pitch = 0;      // from row to row in shared memory
  std::uint64_t rows = 0;
  // The bytes that complete_tx counts: the box with its out-of-range elements, without gaps between
  // rows.
  std::uint64_t tx_bytes() const { return row_bytes * rows; }
  // The bytes of shared memory that the copy may touch if it begins where the swizzle pattern
  // begins.
  std::uint64_t shared_bytes() const { return pitch * rows; }
};
TensorBox box_of(const TensorMap& map);

// The bytes from `shared` on that a copy to or from there touches. More than shared_bytes() if the
// swizzle moves a chunk of the last, incomplete line further.
std::uint64_t touched_bytes(const TensorMap& map, std::uint32_t shared);

// The number of positions of a tile along a dimension: every element_stride-th of the box. Rows of
// elements have no stride, and a copy takes one slice of channels.
constexpr std::uint32_t traversed(const TensorMap& m, std::uint32_t dimension) {
  if (m.sliced() && dimension == m.rank - 2) return 1;
  const std::uint32_t step = dimension == 0 && !m.sliced() ? 1 : m.element_stride[dimension];
  return (m.box[dimension] + step - 1) / step;
}

namespace impl {

// A row of the box: the address of position 0 of dimension 0, or of the slice, and whether the row
// is in range.
struct TensorRow {
  std::uint64_t global = 0;
  bool inside = true;
};

inline void add_position(const TensorMap& m, std::uint32_t dimension, std::int64_t position,
                         TensorRow& row) {
  row.inside &= position >= 0 && position < static_cast<std::int64_t>(m.dim[dimension]);
  row.global += static_cast<std::uint64_t>(position) * m.stride[dimension];
}

template <class F>
void for_each_tile_row(const TensorMap& m, const TensorPlace& place, F f) {
  const std::uint32_t first = m.first_spatial();
  std::array<std::uint32_t, max_tensor_rank> count{}, i{};
  for (std::uint32_t d = first; d < m.rank; ++d) count[d] = traversed(m, d);
  for (;;) {
    TensorRow row{m.global_address};
    for (std::uint32_t d = first; d < m.rank; ++d)
      add_position(m, d, place.at[d] + std::int64_t{i[d]} * m.element_stride[d], row);
    f(row);
    std::uint32_t d = first;
    while (d < m.rank && ++i[d] == count[d]) i[d++] = 0;
    if (d >= m.rank) return;
  }
}

// The last coordinate of the bounding box. The corners bound W, H and D, relative to the tensor's
// first and last elements. N has no bound.
inline std::int64_t last_pixel(const TensorMap& m, std::uint32_t s) {
  return static_cast<std::int64_t>(m.dim[s + m.first_spatial()]) - 1 + m.upper_corner[s];
}

// Visits the pixels of a column: from the start through the bounding box along W, then H, D and N.
template <class F>
void for_each_column_row(const TensorMap& m, const TensorPlace& place, F f) {
  const std::uint32_t first = m.first_spatial(), spatial = m.spatial(), images = m.rank - 1;
  std::array<std::int64_t, max_tensor_rank> pixel{};
  for (std::uint32_t d = first; d < m.rank; ++d) pixel[d] = place.at[d];
  for (std::uint32_t p = 0; p < m.pixels; ++p) {
    TensorRow row{m.global_address};
    for (std::uint32_t d = first; d < m.rank; ++d) {
      const bool moved = d - first < spatial;
      add_position(m, d, pixel[d] + (moved ? place.offset[d - first] : 0), row);
    }
    f(row);
    std::uint32_t s = 0;
    for (; s < spatial; ++s) {
      pixel[s + first] += m.element_stride[s + first];
      if (pixel[s + first] <= last_pixel(m, s)) break;
      pixel[s + first] = m.lower_corner[s];
    }
    if (s == spatial) pixel[images] += m.element_stride[images];
  }
}

template <class F>
void for_each_row(const TensorMap& m, const TensorPlace& place, F f) {
  m.mode == TensorMode::tile ? for_each_tile_row(m, place, f) : for_each_column_row(m, place, f);
}

// Cuts a run into chunks that the swizzle keeps together.
template <class F>
void emit(Swizzle mode, TensorRun run, F& f) {
  if (mode == Swizzle::none) {
    if (run.bytes != 0) f(run);
    return;
  }
  std::uint32_t address = run.shared;
  std::uint64_t global = run.global;
  for (std::uint32_t left = run.bytes; left != 0;) {
    const std::uint32_t bytes = std::min(left, swizzle_chunk - address % swizzle_chunk);
    f(TensorRun{swizzle(mode, address), bytes, global, run.inside});
    address += bytes;
    global += bytes;
    left -= bytes;
  }
}

// The bytes [left, right) of a row that are in range, if the row is.
struct InRange {
  std::int64_t left, right;
};
inline InRange in_range(const TensorMap& m, const TensorPlace& place, TensorDirection direction,
                        std::int64_t row_bytes) {
  if (m.sliced()) return {0, row_bytes};
  const std::int64_t size = m.element_bytes(), first = place.at[0] * size;
  std::int64_t end = static_cast<std::int64_t>(m.dim[0]) * size;
  // A store writes whole chunks, up to the end of the chunk that holds the last element.
  if (direction == TensorDirection::store)
    end = (end + swizzle_chunk - 1) / swizzle_chunk * swizzle_chunk;
  const std::int64_t left = std::clamp<std::int64_t>(-first, 0, row_bytes);
  return {left, std::clamp<std::int64_t>(end - first, left, row_bytes)};
}

}  // namespace impl

// The bytes that each row of a store writes past the last element of dimension 0.
inline std::uint32_t store_padding(const TensorMap& m, const TensorPlace& place) {
  const std::int64_t row_bytes = box_of(m).row_bytes;
  return static_cast<std::uint32_t>(
      impl::in_range(m, place, TensorDirection::store, row_bytes).right -
      impl::in_range(m, place, TensorDirection::load, row_bytes).right);
}

// Calls f(const TensorRun&) for every run of the copy, in the order of the box. The runs cover
// every byte of the box once.
template <class F>
void for_each_run(const TensorMap& m, const TensorPlace& place, TensorDirection direction, F f) {
  const TensorBox box = box_of(m);
  const impl::InRange range = impl::in_range(m, place, direction, box.row_bytes);
  const std::int64_t first = m.sliced() ? 0 : std::int64_t{place.at[0]} * m.element_bytes();
  std::uint32_t shared = place.shared;
  impl::for_each_row(m, place, [&](const impl::TensorRow& row) {
    const auto emit = [&](std::int64_t from, std::int64_t to, bool inside) {
      const std::uint64_t global =
          inside ? row.global + static_cast<std::uint64_t>(first + from) : 0;
      impl::emit(m.swizzle,
                 {static_cast<std::uint32_t>(shared + from), static_cast<std::uint32_t>(to - from),
                  global, inside},
                 f);
    };
    if (row.inside) {
      emit(0, range.left, false);
      emit(range.left, range.right, true);
      emit(range.right, box.row_bytes, false);
    } else {
      emit(0, box.row_bytes, false);
    }
    shared += box.pitch;
  });
}

// Returns the first rule that a copy breaks. A GPU faults then: with a misaligned address for
// tensor_shared_alignment, with an illegal instruction for any other rule.
Violation tensor_violation(const TensorMap&, const TensorPlace&, TensorDirection);

// --- moving the bytes ---------------------------------------------------------------------------
// Base plus address is a host address. A null base means that addresses are host addresses. The
// caller has checked them (for_each_run visits all).
struct TensorMemory {
  std::byte* shared = nullptr;  // host address of shared address 0
  std::byte* global = nullptr;  // host address of global address 0
};

void tensor_load(const TensorMap&, const TensorPlace&, const TensorMemory&);
void tensor_store(const TensorMap&, const TensorPlace&, const TensorMemory&);
// `reduce` is the function for the map's element type.
void tensor_reduce(const TensorMap&, const TensorPlace&, const TensorMemory&, Reduce reduce);

}  // namespace inflight::async
