// Offsets and bank conflicts of a swizzled box.
#include "cli/swizzle_box.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace inflight::cli {
namespace {

constexpr std::uint32_t warp = 32;
constexpr std::uint32_t copy_alignment = 128;  // of shared memory, for every tensor copy

// One lane's read.
struct Read {
  std::uint32_t offset, bytes;
};

std::uint32_t lanes_a_pass(std::uint32_t bytes) {
  return bytes <= bank_bytes ? warp : warp * bank_bytes / bytes;
}

// The number of distinct words in the bank that has most.
std::uint32_t passes_of(const Read* reads, std::size_t count) {
  std::array<std::set<std::uint32_t>, banks> words;
  std::size_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t end = reads[i].offset + reads[i].bytes;
    for (std::uint32_t word = reads[i].offset / bank_bytes; word * bank_bytes < end; ++word) {
      words[word % banks].insert(word);
      most = std::max(most, words[word % banks].size());
    }
  }
  return static_cast<std::uint32_t>(most);
}

Passes passes_at(const SwizzledBox& box, const AccessPattern& p, Element first) {
  const std::uint32_t bytes = p.elements * box.element_bytes();
  Passes result;
  for (std::uint32_t repeat = 0; repeat < p.repeats; ++repeat) {
    std::vector<Read> reads;
    for (std::uint32_t r = 0; r < p.lane_rows; ++r)
      for (std::uint32_t c = 0; c < p.lane_columns; ++c) {
        const std::uint32_t column = first.column + (repeat * p.lane_columns + c) * p.elements;
        reads.push_back({box.offset({first.row + r, column}), bytes});
      }
    const std::size_t together = lanes_a_pass(bytes);
    for (std::size_t i = 0; i < reads.size(); i += together) {
      result.worst += passes_of(&reads[i], std::min(together, reads.size() - i));
      result.least += 1;
    }
  }
  return result;
}

}  // namespace

std::string_view name(async::Swizzle mode) {
  constexpr std::string_view names[] = {"none", "32B", "64B", "128B"};
  return names[static_cast<unsigned>(mode)];
}

std::uint32_t alignment(async::Swizzle mode) {
  return std::max(copy_alignment, async::swizzle_period(mode));
}

std::uint32_t SwizzledBox::pitch() const {
  return mode == async::Swizzle::none ? row_bytes() : async::swizzle_span(mode);
}

std::uint32_t SwizzledBox::offset(Element e) const {
  return async::swizzle(mode, e.row * pitch() + e.column * element_bytes());
}

std::optional<Element> SwizzledBox::at(std::uint32_t offset) const {
  const std::uint32_t plain = async::swizzle(mode, offset);  // its own inverse
  const Element e{plain / pitch(), plain % pitch() / element_bytes()};
  return e.row < rows && e.column < columns ? std::optional(e) : std::nullopt;
}

bool SwizzledBox::fits() const {
  return mode == async::Swizzle::none || row_bytes() <= async::swizzle_span(mode);
}

AccessPattern column_of(const SwizzledBox& box) { return {std::min(warp, box.rows), 1}; }
AccessPattern row_of(const SwizzledBox& box) { return {1, std::min(warp, box.columns)}; }
AccessPattern tile_of(const SwizzledBox& box) {
  constexpr std::uint32_t side = 8;
  const std::uint32_t width = std::min(side, box.columns);
  const std::uint32_t elements = std::min(async::swizzle_chunk / box.element_bytes(), width);
  return {std::min(side, box.rows), 1, elements, width / elements};
}

Passes count_passes(const SwizzledBox& box, const AccessPattern& p) {
  Passes most;
  const std::uint32_t width = p.lane_columns * p.elements * p.repeats;
  for (std::uint32_t row = 0; row + p.lane_rows <= box.rows; row += p.lane_rows)
    for (std::uint32_t column = 0; column + width <= box.columns; column += width) {
      const Passes here = passes_at(box, p, {row, column});
      if (here.worst > most.worst) most = here;
    }
  return most;
}

}  // namespace inflight::cli
