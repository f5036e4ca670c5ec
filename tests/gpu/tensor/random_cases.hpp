// Random legal copies for tensor_truth. Plain C++17 with equal results on every machine.
#pragma once
#include <algorithm>
#include <vector>

#include "case.hpp"

namespace tensor_truth {

constexpr std::uint32_t most_box_bytes = 16 << 10;
constexpr std::uint64_t most_tensor_bytes = 200 << 10;

inline std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

// The operations that PTX allows for each element type.
inline bool reducible(unsigned type, unsigned op) {
  const bool integer32 = type == 2 || type == 3, integer64 = type == 4 || type == 5;
  const bool half = type == 6 || type == 9;
  switch (op) {
    case op_add:
      return integer32 || type == 4 || is_real(type);
    case op_min:
    case op_max:
      return integer32 || integer64 || half;
    case op_inc:
    case op_dec:
      return type == 2;
    default:
      return integer32 || type == 4;
  }
}

inline std::uint32_t small_or_any(Random& r, std::uint32_t most) {
  return 1 + r.below(r.chance(70) ? std::min(most, 6u) : most);
}

inline void choose_kind(Random& r, Case& c) {
  const std::uint32_t k = r.below(100);
  c.kind = k < 50 ? Kind::load : k < 75 ? Kind::store : Kind::reduce;
  do {
    c.map.type = r.below(type_count);
    c.op = r.below(op_count);
  } while (c.kind == Kind::reduce && !reducible(c.map.type, c.op));
}

// Chooses the box's elements of dimension 0: a multiple of 16 bytes within the swizzle's span.
inline std::uint32_t choose_row(Random& r, const Map& m) {
  const std::uint32_t size = type_bytes(m.type);
  std::uint32_t most = std::min(256 * size, 512u);
  if (m.swizzle != 0) most = std::min(most, 16u << m.swizzle);
  return 16 * (1 + r.below(most / 16)) / size;
}

// Chooses the box's size in dimensions 1 and up, within `most_box_bytes` of shared memory.
inline void choose_box(Random& r, Map& m) {
  m.box[0] = choose_row(r, m);
  if (r.chance(3)) m.element_stride[0] = 2 + r.below(7);  // ignored
  for (unsigned d = 1; d < m.rank; ++d)
    if (r.chance(25)) m.element_stride[d] = 2 + r.below(7);
  for (unsigned d = 1; d < m.rank; ++d) {
    const std::uint32_t room = std::min<std::uint32_t>(
        256, most_box_bytes / std::max(1u, box_extent(m)) * m.element_stride[d]);
    m.box[d] = small_or_any(r, std::max(1u, room));
    while (box_extent(m) > most_box_bytes) m.box[d] /= 2;
    m.box[d] = std::max(1u, m.box[d]);
  }
}

// Chooses sizes and strides that fit the arena. Dimension 0 is dense, others may be padded.
inline void choose_tensor(Random& r, Map& m, const std::uint64_t* wanted, bool overlap) {
  const std::uint32_t size = type_bytes(m.type);
  m.dim[0] =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(wanted[0], most_tensor_bytes / size));
  std::uint64_t extent = round_up(m.dim[0] * size, 16);
  for (unsigned d = 1; d < m.rank; ++d) {
    std::uint64_t stride = extent + (r.chance(40) ? 16 * r.below(6) : 0);
    if (overlap) stride = 16 * r.below(8);
    const std::uint64_t step = std::max<std::uint64_t>(stride, 16);
    const std::uint64_t room =
        extent >= most_tensor_bytes ? 1 : (most_tensor_bytes - extent) / step + 1;
    m.dim[d] = std::max<std::uint64_t>(1, std::min(wanted[d], room));
    m.stride[d - 1] = stride;
    extent = std::max(extent, stride * (m.dim[d] - 1) + extent);
  }
  const std::uint64_t spare = global_bytes - round_up(extent, 16);
  m.address = 16 * r.below(static_cast<std::uint32_t>(spare / 16) + 1);
}

// Chooses where a box of this reach starts: inside, over or on either edge, or far away.
inline std::int32_t choose_start(Random& r, std::uint64_t dim, std::uint32_t reach, bool negative) {
  const auto size = static_cast<std::int64_t>(dim), box = static_cast<std::int64_t>(reach);
  const std::int64_t least = negative ? -box - 1 : 0;
  std::int64_t at = 0;
  switch (r.below(8)) {
    case 0:
      at = 0;
      break;
    case 1:
      at = size - box;
      break;
    case 2:
      at = r.between(least, size);
      break;
    case 3:
      at = -r.between(0, box);
      break;
    case 4:
      at = r.between(std::max<std::int64_t>(0, size - box), size);
      break;
    case 5:
      at = r.chance(10) ? (r.chance(50) ? 2147483647 : -2147483647 - 1) : size - 1;
      break;
    default:
      at = r.between(0, std::max<std::int64_t>(0, size - box));
  }
  return static_cast<std::int32_t>(negative ? at : std::max<std::int64_t>(0, at));
}

// Aligns a start to a 16-byte chunk of dimension 0, since other starts fault.
inline std::int32_t align_start(std::int32_t at, unsigned type) {
  return at & -static_cast<std::int32_t>(16 / type_bytes(type));
}

inline void choose_shared(Random& r, Case& c) {
  const std::uint32_t extent = box_extent(c.map) + 1024;
  const std::uint32_t step = r.chance(50) ? 1024 : 128;
  c.shared = step * r.below((static_cast<std::uint32_t>(shared_bytes) - extent) / step);
}

inline void choose_common(Random& r, Case& c) {
  choose_kind(r, c);
  c.salt = r.below(3);
  c.map.swizzle = r.chance(30) ? 0 : r.below(4);
  c.map.l2 = r.below(4);
  c.map.fill = is_real(c.map.type) && r.chance(30);
}

inline Case random_tile(std::uint64_t seed) {
  Random r(seed);
  Case c;
  choose_common(r, c);
  Map& m = c.map;
  m.rank = 1 + r.below(5);
  choose_box(r, m);
  std::uint64_t wanted[most_dimensions];
  for (unsigned d = 0; d < m.rank; ++d) {
    const std::uint32_t many = r.chance(60) ? 2 * m.box[d] : 40;
    wanted[d] = 1 + r.below(d == 0 ? std::max(many, 16u) : many);
  }
  choose_tensor(r, m, wanted, c.kind == Kind::load && r.chance(4));
  for (unsigned d = 0; d < m.rank; ++d)
    c.at[d] = choose_start(r, m.dim[d], m.box[d], c.kind == Kind::load);
  c.at[0] = align_start(c.at[0], m.type);
  choose_shared(r, c);
  return c;
}

// `inside`: the bounding box lies inside the tensor.
inline void choose_corners(Random& r, Map& m, bool inside) {
  const std::int32_t limit = m.rank == 3 ? 30 : m.rank == 4 ? 20 : 15;
  for (unsigned s = 0; s < m.spatial(); ++s) {
    const auto size = static_cast<std::int32_t>(m.dim[s + (m.interleave == 0 ? 1 : 0)]);
    do {
      m.lower[s] = static_cast<std::int32_t>(r.between(inside ? 0 : -std::min(limit, 4), 3));
      m.upper[s] = static_cast<std::int32_t>(r.between(-std::min(limit, 4), inside ? 0 : 3));
    } while (size + m.upper[s] - m.lower[s] <= 0);
  }
}

// Copies that start in the bounding box. Others fault, as do those that write past the tensor.
inline void choose_column(Random& r, Case& c, bool negative) {
  Map& m = c.map;
  choose_corners(r, m, !negative);
  const unsigned first = m.interleave == 0 ? 1 : 0;
  for (unsigned s = 0; s < m.spatial(); ++s) {
    const std::int64_t last = static_cast<std::int64_t>(m.dim[first + s]) - 1 + m.upper[s];
    c.at[first + s] = static_cast<std::int32_t>(r.between(m.lower[s], last));
    c.offset[s] = negative ? r.below(4) : 0;
  }
}

inline Case random_im2col(std::uint64_t seed) {
  Random r(seed);
  Case c;
  choose_common(r, c);
  if (c.kind != Kind::load && r.chance(50)) c.kind = Kind::load;
  Map& m = c.map;
  m.im2col = true;
  m.rank = 3 + r.below(3);
  m.channels = choose_row(r, m);
  const std::uint32_t pitch = box_extent(m);
  m.pixels = small_or_any(r, std::min(1024u, most_box_bytes / pitch));
  for (unsigned d = 1; d + 1 < m.rank; ++d)
    if (r.chance(25)) m.element_stride[d] = 2 + r.below(3);
  std::uint64_t wanted[most_dimensions];
  for (unsigned d = 0; d < m.rank; ++d) wanted[d] = 1 + r.below(d == 0 ? 3 * m.channels : 12);
  choose_tensor(r, m, wanted, false);
  const bool negative = c.kind == Kind::load;
  choose_column(r, c, negative);
  c.at[0] = align_start(choose_start(r, m.dim[0], m.channels, negative), m.type);
  c.at[m.rank - 1] = static_cast<std::int32_t>(
      r.between(negative ? -1 : 0, static_cast<std::int64_t>(m.dim[m.rank - 1])));
  choose_shared(r, c);
  return c;
}

// Interleaved layouts, small enough to fit the arena with any meaning of the strides.
inline Case random_interleaved(std::uint64_t seed) {
  Random r(seed);
  Case c;
  choose_common(r, c);
  Map& m = c.map;
  m.im2col = r.chance(25);
  m.rank = 3 + r.below(3);
  m.interleave = 1 + r.below(2);
  m.swizzle = m.interleave == 2 && r.chance(60) ? 1 : r.below(4);
  const std::uint32_t slice = 8u << m.interleave, size = type_bytes(m.type);
  m.box[0] = m.channels = r.chance(60) ? slice / size : 16 * (1 + r.below(6)) / size;
  m.pixels = 1 + r.below(12);
  for (unsigned d = 1; d < m.rank; ++d) m.box[d] = 1 + r.below(d < 3 ? 5 : 2);
  if (r.chance(25)) m.element_stride[1] = 1 + r.below(3);
  if (r.chance(10)) m.element_stride[0] = 2;
  m.dim[0] = r.chance(60) ? slice / size * (1 + r.below(4)) : 1 + r.below(4 * slice / size);
  std::uint64_t stride = slice * (1 + r.below(2));
  for (unsigned d = 1; d < m.rank; ++d) {
    m.dim[d] = 1 + r.below(d < 3 ? 6 : 3);
    m.stride[d - 1] = stride;
    stride *= m.dim[d] + r.below(2);
  }
  m.address = 4096;
  for (unsigned d = 0; d < m.rank; ++d)
    c.at[d] = static_cast<std::int32_t>(
        r.between(c.kind == Kind::load ? -1 : 0, static_cast<std::int64_t>(m.dim[d])));
  if (m.im2col) choose_column(r, c, c.kind == Kind::load);
  c.shared = 1024 * r.below(8) + (r.chance(30) ? 128 * r.below(8) : 0);
  return c;
}

}  // namespace tensor_truth
