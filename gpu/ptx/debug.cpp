// Source positions: .file, .loc, and the names in .debug_str (PTX ISA 11.5).
#include <fmt/format.h>

#include <algorithm>

#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

namespace {

// Lines of headers may have thousands of instances.
constexpr std::ptrdiff_t instances_compared = 16;

std::uint64_t position_key(const Location& l) {
  return std::uint64_t(l.file) << 48 ^ std::uint64_t(l.line) << 16 ^ l.column;
}

bool same_position(const Location& a, const Location& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

}  // namespace

// Parses what follows `.file`: `1 "path"`, optionally with a time stamp and a size.
bool Parser::file() {
  File f{};
  std::uint64_t ignored;
  if (!integer(f.index, "the number of a file") || !lex_.string(f.path)) return false;
  while (lex_.accept(','))
    if (!constant_integer(ignored, "a time stamp or a size")) return false;
  module_.files.push_back(f);
  return true;
}

// Parses what follows `.loc`. Inside inline assembly LLVM adds the assembly's own line numbers to
// the line of the statement, so a position there can name another statement or none. Such a `.loc`
// is ignored, and the last one before the assembly stays in force.
bool Parser::loc() {
  const bool counts = !lex_.in_assembly();
  Location l{};
  if (!integer(l.file, "the number of a file") || !integer(l.line, "a line") ||
      !integer(l.column, "a column"))
    return false;
  if (lex_.accept(',') && !loc_details(l)) return false;
  if (!counts) return true;
  location_ = interned(l);
  named_[location_] = ++locs_;
  return true;
}

// The index of an equal location among the newest at its position. Adds one if there is none.
std::uint32_t Parser::interned(const Location& l) {
  auto& known = instances_[position_key(l)];
  const auto equal = [&](std::uint32_t i) {
    const Location& each = locations_[i];
    return same_position(each, l) && each.function == l.function && each.inlined_at == l.inlined_at;
  };
  const auto end = known.rbegin() + std::min(std::ssize(known), instances_compared);
  const auto found = std::find_if(known.rbegin(), end, equal);
  if (found != end) {
    std::rotate(std::prev(found.base()), found.base(), known.end());
    return known.back();
  }
  known.push_back(std::uint32_t(locations_.size()));
  locations_.push_back(l);
  named_.push_back(0);
  return known.back();
}

// `inlined_at` names a position only, which has an instance for each place that its function was
// inlined at. LLVM spells out the chain of an instance once. When it comes back to an instance,
// the code of its callers has mostly been named just before. So the instance that was named last,
// or whose callers were, is the one.
std::uint32_t Parser::instance_at(const Location& position) {
  const auto known = instances_.find(position_key(position));
  if (known == instances_.end()) return none;
  constexpr std::size_t deepest = 16;
  const auto& all = known->second;
  if (all.size() == 1) return same_position(locations_[all[0]], position) ? all[0] : none;
  std::uint32_t best = none;
  std::vector<std::uint32_t> best_times, times;
  const auto end = all.rbegin() + std::min(std::ssize(all), instances_compared);
  for (auto each = all.rbegin(); each != end; ++each) {
    if (!same_position(locations_[*each], position)) continue;
    times.clear();
    for (std::uint32_t at = *each; at != none && times.size() < deepest;
         at = locations_[at].inlined_at)
      times.push_back(named_[at]);
    std::sort(times.rbegin(), times.rend());
    if (best == none || times > best_times) best = *each, std::swap(best_times, times);
  }
  return best;
}

// `function_name label + 4, inlined_at file line column`
bool Parser::loc_details(Location& l) {
  std::int64_t offset = 0;
  Location at{};
  if (!lex_.accept_word("function_name")) return lex_.expected("`function_name`");
  if (!name(l.function, "a label in .debug_str") || !add_offset(offset) || !lex_.expect(','))
    return false;
  if (!lex_.accept_word("inlined_at")) return lex_.expected("`inlined_at`");
  if (!integer(at.file, "the number of a file") || !integer(at.line, "a line") ||
      !integer(at.column, "a column"))
    return false;
  l.inlined_at = instance_at(at);
  if (l.inlined_at == none) l.inlined_at = interned(at);
  return true;
}

// Parses what follows `.section`. Only the strings are kept: fault reports show them.
bool Parser::section() {
  lex_.skip();
  const auto name = lex_.dotted();
  if (name.empty()) return lex_.expected("the name of a section");
  if (!lex_.expect('{')) return false;
  if (name == ".debug_str") return debug_strings();
  return lex_.skip_to('}') || lex_.expected("`}` at the end of this section");
}

// Skips a source text, which may contain braces and quotes and ends with `.source_end`.
bool Parser::source_section() {
  if (!lex_.expect('{')) return false;
  lex_.skip_past(".source_end");
  return lex_.skip_to('}') || lex_.expected("`}` at the end of this section");
}

// Parses `label: .b8 95,90,0` ... up to the closing brace.
bool Parser::debug_strings() {
  std::string* text = nullptr;
  while (!lex_.accept('}')) {
    if (lex_.peek() == '.') {
      const auto type = lex_.dotted();
      do {
        std::uint64_t value = 0;
        if (!constant_integer(value, "a byte")) return false;
        if (type == ".b8" && text) text->push_back(char(value));
      } while (lex_.accept(','));
      continue;
    }
    std::string_view label;
    if (!this->name(label, "a label or `}`") || !lex_.expect(':')) return false;
    text = &strings_->emplace_back();
    debug_names_[label] = std::uint32_t(strings_->size() - 1);
  }
  return true;
}

void Parser::name_inlined() {
  for (auto [label, string] : debug_names_) {
    std::string& s = (*strings_)[string];
    s.resize(std::min(s.find('\0'), s.size()));
  }
  for (Function& f : module_.functions)
    for (Location& l : f.locations) {
      const auto known = debug_names_.find(l.function);
      l.function = known == debug_names_.end() ? std::string_view{} : (*strings_)[known->second];
    }
}

}  // namespace inflight::ptx
