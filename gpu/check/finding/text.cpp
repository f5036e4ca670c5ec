// Formats findings as text, for a terminal or a file.
#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <system_error>
#include <vector>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/names.hpp"
#include "gpu/check/printable.hpp"

namespace inflight::check {
namespace {

std::string triple(const Extents& e) { return fmt::format("({},{},{})", e.x, e.y, e.z); }

// A call of the host's about a kernel.
bool is_launch(const CodePlace& place) {
  return !place.kernel.empty() && place.file.empty() && place.ptx_line == 0 &&
         !place.instruction.empty();
}

// The kernel and function of a place, to append to it.
std::string inside(const CodePlace& place) {
  if (place.kernel.empty()) return {};
  std::string text =
      fmt::format(" {} kernel {}", is_launch(place) ? "of" : "in", printable(place.kernel));
  if (!place.function.empty() && !is_launch(place))
    text += fmt::format(", function {}", readable(place.function));
  return text;
}

std::string_view space_name(Space space) {
  static constexpr std::string_view names[] = {"global", "shared", "local", "constant",
                                               "parameter"};
  return names[static_cast<unsigned>(space)];
}

// The path, relative to the working directory if the file is below it.
std::string shown(const std::string& file) {
  std::error_code error;
  std::string here = std::filesystem::current_path(error).string();
  if (error || here.empty()) return printable(file);
  if (here.back() != '/') here += '/';
  return printable(file.starts_with(here) ? file.substr(here.size()) : file);
}

// The last part of a path.
std::string name_of(const std::string& file) {
  return printable(std::filesystem::path(file).filename().string());
}

std::string times(std::uint64_t count) {
  return fmt::format("seen {} time{}", count, count == 1 ? "" : "s");
}

// The level, unless it is an error, as most kinds are.
std::string_view level(Severity severity) {
  static constexpr std::string_view words[] = {"", "warning: ", "advice: "};
  return words[static_cast<unsigned>(severity)];
}

constexpr std::size_t most_calls = 3;  // inlined calls that are listed

class Writer {
 public:
  explicit Writer(const TextStyle& style) : style_(style) {}

  void heading(const Finding& f, std::string_view before = {}) {
    static constexpr std::string_view codes[] = {"1;31", "1;33", "1;36"};
    const KindFacts& facts = facts_of(f.kind);
    text += painted(codes[static_cast<unsigned>(facts.severity)], facts.id);
    text += fmt::format(": {}{}{}\n", level(facts.severity), before,
                        painted("1", printable(f.sentence)));
  }
  void party(const Party& p) {
    text += fmt::format("  {}\n    at {}{}\n", printable(p.did), to_text(p.place), inside(p.place));
    quote(p.place, "      ");
    if (p.threads) text += fmt::format("    by {}\n", to_text(*p.threads));
  }
  void party_in_short(const Party& p) {
    text += fmt::format("  {} at {}\n", printable(p.did), to_text(p.place));
    quote(p.place, "      ");
  }
  void in_flight(const Party& p) {
    text += fmt::format("    {}, at {}\n", printable(p.did), to_text(p.place));
  }
  void line(std::string_view label, std::string_view words) {
    if (!words.empty()) text += fmt::format("  {}: {}\n", painted("32", label), printable(words));
  }
  std::string text;

 private:
  std::string painted(std::string_view code, std::string_view words) const {
    return style_.colours ? fmt::format("\033[{}m{}\033[0m", code, words) : std::string(words);
  }
  void quote(const CodePlace& p, std::string_view indent) {
    if (!style_.source || p.source.empty()) return;
    text += indent;
    text += painted("2", fmt::format("{} | {}", own_line(p).line, printable(p.source))) + "\n";
    if (p.call_source.empty() || p.inlined_at.empty()) return;
    text += indent;
    text +=
        painted("2", fmt::format("{} | {}", p.inlined_at.back().line, printable(p.call_source))) +
        "\n";
  }
  TextStyle style_;
};

}  // namespace

std::string to_text(const CodePlace& place) {
  const std::string instruction = printable(place.instruction);
  if (place.kernel.empty() || is_launch(place)) return instruction;
  if (place.file.empty()) {
    if (!place.ptx_line) return "the end of a thread";
    const std::string module = place.module.empty() ? "" : " of " + name_of(place.module);
    return fmt::format("PTX line {}{} ({})", place.ptx_line, module, instruction);
  }
  const CodeLine own = own_line(place);
  std::string text =
      fmt::format("{}:{}:{} ({}", shown(own.file), own.line, own.column, instruction);
  const bool header = own.file != place.file || own.line != place.line;
  if (header) text += fmt::format(", of {}:{}", name_of(place.file), place.line);
  text += ')';
  bool outside = !header;
  std::vector<const CodeLine*> calls;
  for (const CodeLine& each : place.inlined_at) {
    if (outside) calls.push_back(&each);
    outside = outside || (each.file == own.file && each.line == own.line);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    // Nested templates: list only the first call and the last two.
    if (i == 1 && calls.size() > most_calls) {
      const std::size_t left_out = calls.size() - most_calls;
      text += fmt::format(", through {} more", left_out);
      i += left_out;
    }
    text += fmt::format(", inlined at {}:{}", shown(calls[i]->file), calls[i]->line);
  }
  return text;
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

std::string to_text(const Finding& f, const TextStyle& style) {
  Writer out(style);
  out.heading(f);
  out.party(f.here);
  for (const Party& p : f.there) out.party(p);
  for (const std::string& each : f.details) out.text += fmt::format("  {}\n", printable(each));
  if (f.bytes) out.text += fmt::format("  {}\n", to_text(*f.bytes));
  if (!f.in_flight.empty()) {
    out.text += "  in flight then, oldest first:\n";
    for (const Party& p : f.in_flight) out.in_flight(p);
  }
  out.line("fix", f.remedy);
  out.line("rule", f.rule);
  out.line("reproduce with", f.replay);
  if (f.count > 1) out.text += fmt::format("  {}\n", times(f.count));
  return out.text;
}

std::string short_text(const Finding& f, const TextStyle& style) {
  Writer out(style);
  out.heading(f, "similar to one above, at other places: ");
  out.party_in_short(f.here);
  for (const Party& p : f.there) out.party_in_short(p);
  return out.text;
}

std::string headline(const Finding& f) {
  CodePlace place = f.here.place;
  const CodeLine own = own_line(place);
  // The outermost call tells apart the uses of one wrapper.
  std::vector<CodeLine> call;
  if (!place.inlined_at.empty() && place.inlined_at.back() != own) call = {place.inlined_at.back()};
  place.file = own.file, place.line = own.line, place.column = own.column;
  place.inlined_at = std::move(call);
  return fmt::format("{} at {}{}, {}", facts_of(f.kind).id, to_text(place),
                     is_launch(place) ? inside(place) : std::string(), times(f.count));
}

}  // namespace inflight::check
