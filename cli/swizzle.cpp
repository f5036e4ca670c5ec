// inflight swizzle: where a tensor copy puts elements in shared memory, and the cost of reading
// them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <CLI/CLI.hpp>
#include <memory>
#include <tl/expected.hpp>
#include <vector>

#include "cli/commands.hpp"
#include "cli/swizzle_box.hpp"
#include "cli/terminal.hpp"
#include "gpu/host/output_file.hpp"

namespace inflight::cli {
namespace {

struct SwizzleRequest {
  std::string mode = "128B", type = "f32", box = "32x16", pattern, svg;
};

template <class T>
using Parsed = tl::expected<T, std::string>;  // the error is a sentence

// "8x4" or "8x4x2": up to three positive numbers.
Parsed<std::vector<std::uint32_t>> numbers(std::string_view text) {
  std::vector<std::uint32_t> list;
  const char *at = text.data(), *end = at + text.size();
  for (;;) {
    std::uint32_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || value == 0 || list.size() == 3)
      return tl::unexpected(fmt::format("'{}' is not a list of sizes such as 32x16.", text));
    list.push_back(value);
    if (next == end) return list;
    if (*next != 'x')
      return tl::unexpected(fmt::format("'{}' is not a list of sizes such as 32x16.", text));
    at = next + 1;
  }
}

Parsed<async::Swizzle> mode_of(std::string_view text) {
  for (async::Swizzle mode : swizzle_modes)
    if (text == name(mode)) return mode;
  return tl::unexpected(
      fmt::format("unknown mode '{}'; the modes are none, 32B, 64B and 128B.", text));
}

Parsed<async::TensorType> type_of(std::string_view text) {
  std::string all;
  for (std::uint32_t i = 0; i < async::tensor_type_count; ++i) {
    if (text == async::tensor_types[i].name) return static_cast<async::TensorType>(i);
    all += fmt::format("{}{}", i ? ", " : "", async::tensor_types[i].name);
  }
  return tl::unexpected(fmt::format("unknown type '{}'; the types are {}.", text, all));
}

// A box that a tensor copy can have, in any mode.
Parsed<SwizzledBox> box_of(const SwizzleRequest& request) {
  constexpr std::uint32_t most = 256;
  const auto type = type_of(request.type);
  if (!type) return tl::unexpected(type.error());
  const auto sizes = numbers(request.box);
  if (!sizes) return tl::unexpected("--box: " + sizes.error());
  if (sizes->size() != 2)
    return tl::unexpected(fmt::format("--box: '{}' is not ROWSxCOLUMNS.", request.box));
  SwizzledBox box{async::Swizzle::none, *type, (*sizes)[0], (*sizes)[1]};
  if (box.rows > most || box.columns > most)
    return tl::unexpected(fmt::format("--box: a box has at most {} rows and columns.", most));
  if (box.row_bytes() % async::swizzle_chunk != 0)
    return tl::unexpected(
        fmt::format("--box: a row of {} {} has {} bytes; it must be a multiple of {}.", box.columns,
                    request.type, box.row_bytes(), async::swizzle_chunk));
  return box;
}

std::string too_wide(const SwizzledBox& box) {
  const std::uint32_t span = async::swizzle_span(box.mode);
  return fmt::format("a row of {} bytes is wider than the {} of mode {}: at most {} columns of {}",
                     box.row_bytes(), span, name(box.mode), span / box.element_bytes(),
                     facts(box.type).name);
}

// --- tables ---

std::uint32_t chunk_of(const SwizzledBox& box, Element e) {
  return e.column * box.element_bytes() / async::swizzle_chunk;
}

// A table's cell for the bytes at an offset. It names `count` elements if they are small.
std::string cell(const SwizzledBox& box, std::uint32_t offset, std::uint32_t count, int width) {
  const auto e = offset < box.shared_bytes() ? box.at(offset) : std::nullopt;
  if (!e) return styled(Style::faint, fmt::format("{:>{}}", ".", width));
  const std::string label = count > 1 ? fmt::format("{}-{}", e->column, e->column + count - 1)
                                      : std::to_string(e->column);
  return tinted(chunk_of(box, *e), fmt::format("{:>{}}", label, width));
}

// Prints the box row by row at its pitch. Elements of 4 bytes or more appear one by one, smaller
// ones in 16-byte chunks.
void show_rows(const SwizzledBox& box) {
  const bool small = box.element_bytes() < bank_bytes;
  const std::uint32_t step = small ? async::swizzle_chunk : box.element_bytes();
  const int width = small ? 8 : 4;
  out(styled(Style::bold,
             fmt::format("by rows ({} bytes each): the column that lies there\n", box.pitch())));
  for (std::uint32_t row = 0; row < box.rows; ++row) {
    std::string line = styled(Style::faint, fmt::format("row {:>3}", row));
    for (std::uint32_t at = 0; at < box.pitch(); at += step)
      line += cell(box, row * box.pitch() + at, step / box.element_bytes(), width);
    out(line + "\n");
  }
}

std::string rows_in(const SwizzledBox& box, std::uint32_t offset) {
  const std::uint32_t first = offset / box.pitch();
  const std::uint32_t last = std::min((offset + line_bytes - 1) / box.pitch(), box.rows - 1);
  return first == last ? fmt::format("row {}", first) : fmt::format("rows {}-{}", first, last);
}

// Prints lines of 128 bytes with one cell per bank, which names the bank's first element.
void show_banks(const SwizzledBox& box) {
  const std::uint32_t held = bank_bytes / box.element_bytes();
  std::string title = "\nby banks: the column of the element in each";
  if (held > 1) title += fmt::format(" (the first of {})", held);
  out(styled(Style::bold, title + "\n"));
  std::string header = fmt::format("{:<14}", "bank");
  for (std::uint32_t b = 0; b < banks; ++b) header += fmt::format("{:>4}", b);
  out(styled(Style::faint, header + "\n"));
  for (std::uint32_t line = 0; line < box.shared_bytes(); line += line_bytes) {
    std::string text = styled(Style::faint, fmt::format("{:<14}", rows_in(box, line)));
    for (std::uint32_t b = 0; b < banks; ++b) text += cell(box, line + b * bank_bytes, 1, 4);
    out(text + "\n");
  }
}

// --- conflicts ---

std::string described(Passes p) {
  const std::string text = p.free() ? fmt::format("{} free", p.worst)
                                    : fmt::format("{} instead of {}", p.worst, p.least);
  return styled(p.free() ? Style::green : Style::red, fmt::format("{:<18}", text));
}

void show_conflicts(SwizzledBox box) {
  out(styled(Style::bold, "\npasses through the banks to read, at worst\n"));
  out(styled(Style::faint, fmt::format("  {:<6}{:<18}{:<18}{:<18}{}\n", "mode", "a column", "a row",
                                       "an 8x8 tile", "alignment")));
  for (async::Swizzle mode : swizzle_modes) {
    box.mode = mode;
    if (!box.fits()) {
      out(fmt::format("  {:<6}{}\n", name(mode), too_wide(box)));
      continue;
    }
    out(fmt::format("  {:<6}{}{}{}{} bytes\n", name(mode),
                    described(count_passes(box, column_of(box))),
                    described(count_passes(box, row_of(box))),
                    described(count_passes(box, tile_of(box))), alignment(mode)));
  }
}

// --- suggestions ---

Parsed<AccessPattern> pattern_of(const std::string& text, const SwizzledBox& box) {
  if (text == "column") return column_of(box);
  if (text == "row") return row_of(box);
  if (text == "tile") return tile_of(box);
  const auto sizes = numbers(text);
  if (!sizes || sizes->size() < 2)
    return tl::unexpected(
        fmt::format("--suggest: '{}' is not column, row, tile or ROWSxCOLUMNS[xELEMENTS].", text));
  const AccessPattern p{(*sizes)[0], (*sizes)[1], sizes->size() == 3 ? (*sizes)[2] : 1, 1};
  const std::uint64_t lanes = std::uint64_t{p.lane_rows} * p.lane_columns;
  if (lanes > 32)
    return tl::unexpected(fmt::format("--suggest: {} are {} lanes; a warp has 32.", text, lanes));
  const std::uint64_t bytes = std::uint64_t{p.elements} * box.element_bytes();
  if (bytes > async::swizzle_chunk || (bytes & (bytes - 1)) != 0)
    return tl::unexpected(
        fmt::format("--suggest: a lane reads 1, 2, 4, 8 or 16 bytes, not {}.", bytes));
  if (p.lane_rows > box.rows || std::uint64_t{p.lane_columns} * p.elements > box.columns)
    return tl::unexpected(
        fmt::format("--suggest: {} reaches past the box of {}x{}.", text, box.rows, box.columns));
  return p;
}

std::string rule_of(async::Swizzle mode) {
  if (mode == async::Swizzle::none)
    return fmt::format("align the shared memory to {} bytes, as every tensor copy needs",
                       alignment(mode));
  return fmt::format(
      "align the shared memory to {} bytes (8 rows of {}) and give each row {} bytes",
      alignment(mode), async::swizzle_span(mode), async::swizzle_span(mode));
}

int suggest(const std::string& wish, SwizzledBox box) {
  const auto pattern = pattern_of(wish, box);
  if (!pattern) return complain(pattern.error()), usage;
  std::optional<async::Swizzle> best;
  Passes fewest;
  for (async::Swizzle mode : swizzle_modes) {
    box.mode = mode;
    if (!box.fits()) continue;
    const Passes p = count_passes(box, *pattern);
    if (best && p.worst >= fewest.worst) continue;
    best = mode, fewest = p;
  }
  box.mode = *best;
  if (fewest.free()) {
    out(fmt::format("{}: {} is read without bank conflicts; {}.\n", name(*best), wish,
                    rule_of(*best)));
    return ok;
  }
  out(
      fmt::format("no mode reads {} without bank conflicts; {} has the fewest, {} passes instead "
                  "of {}: {}.\n",
                  wish, name(*best), fewest.worst, fewest.least, rule_of(*best)));
  box.mode = async::Swizzle::b128;
  if (!box.fits()) out(fmt::format("{}; several narrower boxes may do better.\n", too_wide(box)));
  return ok;
}

int write_svg(const std::string& path, const SwizzledBox& box) {
  const auto written = host::replace_file(path, draw_svg(box));
  if (!written)
    return complain(fmt::format("'{}' cannot be written: {}.", path, written.error())), failed;
  out(fmt::format("\nThe picture is in {}.\n", path));
  return ok;
}

int show(const SwizzleRequest& request) {
  auto box = box_of(request);
  if (!box) return complain(box.error()), usage;
  if (!request.pattern.empty()) return suggest(request.pattern, *box);
  const auto mode = mode_of(request.mode);
  if (!mode) return complain(mode.error()), usage;
  box->mode = *mode;
  if (!box->fits()) return complain(too_wide(*box) + "."), usage;
  out(fmt::format("{} rows of {} {}, mode {}: {} bytes of shared memory, aligned to {}\n\n",
                  box->rows, box->columns, request.type, name(*mode), box->shared_bytes(),
                  alignment(*mode)));
  show_rows(*box);
  show_banks(*box);
  show_conflicts(*box);
  return request.svg.empty() ? ok : write_svg(request.svg, *box);
}

}  // namespace

void add_swizzle(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "swizzle", "show where a tensor copy's box lands in shared memory, and its bank conflicts");
  auto request = std::make_shared<SwizzleRequest>();
  command->add_option("--mode", request->mode, "none, 32B, 64B or 128B")->type_name("MODE");
  command->add_option("--type", request->type, "the elements' type: u8, f16, bf16, f32, ...")
      ->type_name("TYPE");
  command->add_option("--box", request->box, "the box in elements, as ROWSxCOLUMNS")
      ->type_name("RxC");
  command
      ->add_option("--suggest", request->pattern,
                   "name the mode that reads this without conflicts: column, row, tile (8x8), or "
                   "ROWSxCOLUMNS[xELEMENTS] of lanes with so many elements each")
      ->type_name("ACCESS");
  command->add_option("--svg", request->svg, "also draw the banks")->type_name("FILE");
  command->callback([request, &status] { status = show(*request); });
}

}  // namespace inflight::cli
