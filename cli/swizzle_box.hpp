// A box of a tensor copy in shared memory: the place of each element, and the number of passes
// through the 32 banks that a read takes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gpu/async/swizzle.hpp"
#include "gpu/async/tensor_type.hpp"

namespace inflight::cli {

inline constexpr std::uint32_t banks = 32, bank_bytes = 4, line_bytes = banks * bank_bytes;
inline constexpr async::Swizzle swizzle_modes[] = {async::Swizzle::none, async::Swizzle::b32,
                                                   async::Swizzle::b64, async::Swizzle::b128};
// "none", "32B", "64B", "128B".
std::string_view name(async::Swizzle mode);
// The alignment at which shared memory starts the mode's pattern. Without a swizzle, the alignment
// that every tensor copy needs.
std::uint32_t alignment(async::Swizzle mode);

// Element (row, column) of a box of `rows` times `columns` elements.
struct Element {
  std::uint32_t row = 0, column = 0;
};

struct SwizzledBox {
  async::Swizzle mode = async::Swizzle::b128;
  async::TensorType type = async::TensorType::f32;
  std::uint32_t rows = 0, columns = 0;

  std::uint32_t element_bytes() const { return size_of(type); }
  std::uint32_t row_bytes() const { return columns * element_bytes(); }
  // Bytes from one row to the next in shared memory. With a swizzle, the mode's whole span.
  std::uint32_t pitch() const;
  std::uint32_t shared_bytes() const { return rows * pitch(); }
  // An element's offset in bytes from the start of the box, which is aligned to alignment(mode).
  std::uint32_t offset(Element e) const;
  // The element whose bytes are at an offset, or nothing in the gap that a narrow box leaves.
  std::optional<Element> at(std::uint32_t offset) const;
  // True if a row is no wider than the mode's span.
  bool fits() const;
};

// The reads of a warp in one instruction: a grid of lanes, each of which reads `elements` in a row.
// The pattern repeats `repeats` times along the row.
struct AccessPattern {
  std::uint32_t lane_rows = 1, lane_columns = 1, elements = 1, repeats = 1;
};
AccessPattern column_of(const SwizzledBox& box);  // up to 32 rows, one element per lane
AccessPattern row_of(const SwizzledBox& box);     // up to 32 columns, one element per lane
AccessPattern tile_of(const SwizzledBox& box);    // 8x8 elements, 16 bytes per lane as in ldmatrix

// Passes through the banks at the worst place in the box. One pass serves 32 lanes, or 16 that read
// 8 bytes each, or 8 that read 16. Lanes that read the same word share it.
struct Passes {
  std::uint32_t worst = 0, least = 0;  // least: without any conflict
  bool free() const { return worst == least; }
};
Passes count_passes(const SwizzledBox& box, const AccessPattern& pattern);

// The box as a picture of its 128-byte lines, bank by bank.
std::string draw_svg(const SwizzledBox& box);

}  // namespace inflight::cli
