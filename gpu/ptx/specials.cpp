// Special registers as operands (PTX ISA 10).
#include <fmt/format.h>

#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

namespace {

constexpr std::string_view kSpecialNames[] = {
#define X(name, text) text,
    INFLIGHT_PTX_SPECIALS(X)
#undef X
};

const NameMap& special_names() {
  static const NameMap& map = *[] {
    auto* m = new NameMap;
    for (auto text : kSpecialNames) m->insert(text, hash(text));
    return m;
  }();
  return map;
}

std::uint32_t find_special(std::string_view text) { return special_names().find(text, hash(text)); }

bool set_special(Operand& o, std::uint32_t which) {
  o.kind = Operand::Kind::special;
  o.index = which;
  return true;
}

// Is this a fourth component such as `%tid.w`, which reads as zero?
bool is_fourth(std::string_view text) {
  return text.ends_with(".w") &&
         find_special(std::string(text.substr(0, text.size() - 2)) + ".x") != NameMap::absent;
}

// Returns the number of an environment register such as `%envreg7`, or -1.
int environment_register(std::string_view text) {
  constexpr std::string_view kPrefix = "%envreg";
  if (!text.starts_with(kPrefix) || text.size() > kPrefix.size() + 2) return -1;
  int n = text.size() == kPrefix.size() ? -1 : 0;
  for (char c : text.substr(kPrefix.size())) n = is(c, kDigit) && n >= 0 ? n * 10 + (c - '0') : -1;
  return n < 32 ? n : -1;
}

}  // namespace

// Parses a word with a % that is not a declared register.
bool Parser::special(std::string_view text, Operand& o) {
  if (lex_.here() == '.') text = {text.data(), text.size() + lex_.dotted().size()};
  const std::uint32_t which = find_special(text);
  if (which != NameMap::absent && text != spelling(Special::envreg_other))
    return set_special(o, which);
  if (is_fourth(text)) return o.kind = Operand::Kind::integer, true;
  const int n = environment_register(text);
  if (n >= 0) return o.value = n, set_special(o, std::uint32_t(Special::envreg_other));
  if (find_special(std::string(text) + ".x") != NameMap::absent) return special_vector(text, o);
  if (!text.starts_with("%pm"))
    return lex_.fail_at(text.data(), fmt::format("`{}` is not declared", text));
  o.kind = Operand::Kind::sink;
  refusal_ = fmt::format("the performance counter `{}` is not supported", text);
  return true;
}

// Makes a vector of all of `%tid`: x, y, z and a fourth element that reads as zero.
bool Parser::special_vector(std::string_view text, Operand& o) {
  o.kind = Operand::Kind::vector;
  o.count = 4;
  o.index = std::uint32_t(pool_.size());
  for (const char* part : {".x", ".y", ".z"})
    set_special(pool_.emplace_back(), find_special(std::string(text) + part));
  pool_.emplace_back().kind = Operand::Kind::integer;
  return true;
}

}  // namespace inflight::ptx
