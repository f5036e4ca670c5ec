// Findings in words.
#include <fmt/format.h>

#include <bit>
#include <filesystem>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

std::string triple(const Extents& e) { return fmt::format("({},{},{})", e.x, e.y, e.z); }

// How the kernel is named behind a place of a function that it calls or has inlined.
std::string inside(const CodePlace& place) {
  if (place.kernel.empty()) return {};
  std::string text = fmt::format(" in kernel {}", place.kernel);
  if (!place.function.empty()) text += fmt::format(", function {}", readable(place.function));
  return text;
}

std::string party(const Party& p, std::string_view indent) {
  std::string text =
      fmt::format("{}{}\n{}  at {}{}\n", indent, p.did, indent, to_text(p.place), inside(p.place));
  if (p.threads) text += fmt::format("{}  by {}\n", indent, to_text(*p.threads));
  return text;
}

std::string_view space_name(Space space) {
  static constexpr std::string_view names[] = {"global", "shared", "local", "constant",
                                               "parameter"};
  return names[static_cast<unsigned>(space)];
}

}  // namespace

std::string to_text(const CodePlace& place) {
  if (place.kernel.empty()) return place.instruction;
  if (place.file.empty())
    return place.ptx_line ? fmt::format("PTX line {} ({})", place.ptx_line, place.instruction)
                          : std::string("the end of a thread");
  return fmt::format("{}:{}:{} ({})", place.file, place.line, place.column, place.instruction);
}

std::string to_text(const Threads& t) {
  std::string text = fmt::format("thread {} of block {}", triple(t.thread), triple(t.block));
  if (t.clustered) text += fmt::format(" (rank {} of its cluster)", t.rank);
  if (const int others = std::popcount(t.lanes) - 1; others > 0)
    text += fmt::format(", and {} more of its warp", others);
  return text;
}

std::string to_text(const Bytes& b) {
  std::string text =
      b.space == Space::global || b.space == Space::constant
          ? fmt::format("{} memory at 0x{:x}", space_name(b.space), b.address)
          : fmt::format("{} memory at offset 0x{:x}", space_name(b.space), b.address);
  if (b.count) text += fmt::format(", {} byte{}", b.count, b.count == 1 ? "" : "s");
  if (!b.variable.empty())
    text += fmt::format(": '{}'{}", readable(b.variable),
                        b.offset ? fmt::format(" + {}", b.offset) : std::string());
  return text;
}

std::string to_text(const Finding& f) {
  std::string text = fmt::format("{}: {}\n", facts_of(f.kind).id, f.sentence);
  text += party(f.here, "  ");
  for (const Party& p : f.there) text += party(p, "  ");
  if (f.bytes) text += fmt::format("  {}\n", to_text(*f.bytes));
  if (!f.in_flight.empty()) {
    text += "  in flight then, oldest first:\n";
    for (const Party& p : f.in_flight)
      text += fmt::format("    {}, at {}\n", p.did, to_text(p.place));
  }
  if (!f.remedy.empty()) text += fmt::format("  to mend it: {}\n", f.remedy);
  if (!f.rule.empty()) text += fmt::format("  rule: {}\n", f.rule);
  return text;
}

std::string fingerprint(const Finding& f) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    hash = (hash ^ 0xff) * 0x100000001b3ull;
  };
  const auto add_place = [&](const CodePlace& p) {
    add(p.kernel), add(p.function), add(p.instruction);
    add(std::filesystem::path(p.file).filename().string());
    add(std::to_string(p.file.empty() ? p.ptx_line : p.line));
  };
  add(facts_of(f.kind).id);
  add_place(f.here.place);
  for (const Party& p : f.there) add_place(p.place);
  return fmt::format("{:016x}", hash);
}

}  // namespace inflight::check
