// Source positions: .file, .loc, and the names in .debug_str (PTX ISA 11.5).
#include <fmt/format.h>

#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

namespace {

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
  location_ = std::uint32_t(locations_.size());
  inlined_at_[position_key(l)] = location_;
  locations_.push_back(l);
  return true;
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
  const auto known = inlined_at_.find(position_key(at));
  if (known != inlined_at_.end() && same_position(locations_[known->second], at))
    return l.inlined_at = known->second, true;
  l.inlined_at = std::uint32_t(locations_.size());
  locations_.push_back(at);
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
