// Draws a swizzled box as an SVG picture.
#include <fmt/format.h>

#include <array>
#include <iterator>

#include "cli/swizzle_box.hpp"

namespace inflight::cli {
namespace {

constexpr int cell = 30, left = 90, top = 70;
// One colour per 16-byte chunk of the row, in turn.
constexpr std::array colours{"#f4b6b6", "#f6d3a8", "#f3eda3", "#c5e8b0",
                             "#aee3dd", "#b3cdf2", "#cbbaf0", "#efb9df"};

std::string text(int x, int y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
}

std::string square(int x, int y, std::string_view fill) {
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#ffffff\"/>\n", x, y,
      cell, cell, fill);
}

std::string bank_square(const SwizzledBox& box, std::uint32_t offset, int x, int y) {
  const auto element = offset < box.shared_bytes() ? box.at(offset) : std::nullopt;
  if (!element) return square(x, y, "#eeeeee");
  const std::uint32_t chunk = element->column * box.element_bytes() / async::swizzle_chunk;
  return square(x, y, colours[chunk % colours.size()]) +
         text(x + cell / 2, y + cell / 2 + 4, "middle", std::to_string(element->column));
}

}  // namespace

std::string draw_svg(const SwizzledBox& box) {
  const std::uint32_t lines = (box.shared_bytes() + line_bytes - 1) / line_bytes;
  const int width = left + int(banks) * cell + 20, height = top + int(lines) * cell + 20;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      width, height);
  out += text(left, 24, "start",
              fmt::format("{} rows of {} {}, swizzle {}: the column whose element each bank holds",
                          box.rows, box.columns, facts(box.type).name, name(box.mode)));
  for (std::uint32_t b = 0; b < banks; ++b)
    out += text(left + int(b) * cell + cell / 2, top - 8, "middle", std::to_string(b));
  for (std::uint32_t line = 0; line < lines; ++line) {
    const int y = top + int(line) * cell;
    const std::uint32_t first = line * line_bytes;
    out += text(left - 8, y + cell / 2 + 4, "end", fmt::format("byte {}", first));
    for (std::uint32_t b = 0; b < banks; ++b)
      out += bank_square(box, first + b * bank_bytes, left + int(b) * cell, y);
  }
  return out + "</svg>\n";
}

}  // namespace inflight::cli
