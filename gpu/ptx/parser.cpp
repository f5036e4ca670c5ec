// The module: its directives, and the declarations that may follow a linkage.
#include "gpu/ptx/parser.hpp"

#include <fmt/format.h>

#include <charconv>

namespace inflight::ptx {

Parser::Parser(std::shared_ptr<const std::string> text, std::string name)
    : text_(std::move(text)), lex_(*text_), strings_(std::make_shared<std::deque<std::string>>()) {
  module_.text = text_;
  module_.name = std::move(name);
}

tl::expected<Module, Error> Parser::run() {
  if (!lex_.at_end() && lex_.peek() != '.') lex_.expected("a directive such as `.version`");
  while (!lex_.failed() && !lex_.at_end()) module_statement();
  if (!lex_.failed() && !module_.version_major) lex_.fail("there is no `.version` directive");
  if (lex_.failed()) return tl::unexpected(lex_.error());
  name_inlined();
  module_.strings = strings_;
  return std::move(module_);
}

bool Parser::module_statement() {
  struct Directive {
    std::string_view name;
    bool (Parser::*parse)();
  };
  static constexpr Directive kDirectives[] = {
      {".version", &Parser::version},
      {".target", &Parser::target},
      {".address_size", &Parser::address_size},
      {".alias", &Parser::alias},
      {".pragma", &Parser::pragma},
      {".file", &Parser::file},
      {".section", &Parser::section},
      {".nv_intermediate_source_section", &Parser::source_section},
      {".loc", &Parser::loc},
  };
  if (lex_.accept(';')) return true;
  if (lex_.peek() == '#') return lex_.skip_line(), true;
  if (lex_.peek() == '@' && lex_.ahead() == '@') return lex_.skip_line(), true;
  const char* start = lex_.mark();
  const auto directive = lex_.dotted();
  if (directive.empty()) return lex_.expected("a directive");
  for (const Directive& d : kDirectives)
    if (d.name == directive) return (this->*d.parse)();
  if (!module_.version_major)
    return lex_.fail_at(start,
                        fmt::format("a PTX text starts with `.version`, not with `{}`", directive));
  return linked(directive);
}

bool Parser::linked(std::string_view directive) {
  struct Name {
    std::string_view text;
    Linkage linkage;
  };
  static constexpr Name kLinkages[] = {{".extern", Linkage::external},
                                       {".visible", Linkage::visible},
                                       {".weak", Linkage::weak},
                                       {".common", Linkage::common}};
  for (const Name& n : kLinkages)
    if (n.text == directive) return module_declaration(lex_.dotted(), n.linkage);
  return module_declaration(directive, Linkage::local);
}

bool Parser::module_declaration(std::string_view directive, Linkage linkage) {
  if (directive.empty()) return lex_.expected("a declaration after the linkage");
  if (directive == ".entry") return function(true, linkage);
  if (directive == ".func") return function(false, linkage);
  const Word w = find_word(directive.substr(1));
  const auto space = Space(w.value);
  const bool known = w.kind == Word::Kind::space &&
                     (space == Space::global || space == Space::constant || space == Space::tex ||
                      space == Space::shared || space == Space::local);
  if (!known)
    return lex_.fail_at(directive.data(),
                        fmt::format("`{}` is not a directive allowed here", directive));
  return variables(space, linkage);
}

bool Parser::integer(std::uint32_t& value, std::string_view what) {
  const char* start = lex_.mark();
  if (!is(lex_.peek(), kDigit)) return lex_.expected(what);
  Literal l;
  if (!lex_.literal(l)) return false;
  if (l.kind != Literal::Kind::integer || l.bits > 0xffffffff)
    return lex_.fail_at(start, fmt::format("expected {}: an integer below 2^32", what));
  value = std::uint32_t(l.bits);
  return true;
}

bool Parser::name(std::string_view& text, std::string_view what) {
  text = lex_.word();
  return !text.empty() || lex_.expected(what);
}

bool Parser::up_to_three(std::array<std::uint32_t, 3>& values) {
  values = {1, 1, 1};
  for (unsigned i = 0; i < 3; ++i) {
    if (!integer(values[i], "a number of threads or blocks")) return false;
    if (!lex_.accept(',')) return true;
  }
  return lex_.fail("at most three dimensions are allowed here");
}

bool Parser::version() {
  const char* start = lex_.mark();
  const auto text = lex_.take(kOpcode);
  const auto dot = text.find('.');
  const auto digits = [](std::string_view s) {
    return !s.empty() && s.size() < 4 && s.find_first_not_of("0123456789") == s.npos;
  };
  if (dot == text.npos || !digits(text.substr(0, dot)) || !digits(text.substr(dot + 1)))
    return lex_.rewind(start, lex_.line()), lex_.expected("a version such as 9.0");
  module_.version_major = std::stoi(std::string(text.substr(0, dot)));
  module_.version_minor = std::stoi(std::string(text.substr(dot + 1)));
  if (!module_.version_major) return lex_.fail_at(start, "there is no PTX version 0");
  if (module_.version_major == 1 && module_.version_minor < 4)
    return lex_.fail_at(start, "PTX before version 1.4 is not accepted by current drivers");
  return true;
}

bool Parser::target() {
  do {
    std::string_view text;
    if (!name(text, "a target such as sm_90")) return false;
    if (module_.target.empty() && (text.starts_with("sm_") || text.starts_with("compute_"))) {
      module_.target = text;
      std::from_chars(text.data() + text.find('_') + 1, text.data() + text.size(),
                      module_.target_number);
    }
    module_.debug |= text == "debug";
  } while (lex_.accept(','));
  return true;
}

bool Parser::address_size() {
  std::uint32_t bits = 0;
  const char* start = lex_.mark();
  if (!integer(bits, "32 or 64")) return false;
  if (bits != 32 && bits != 64) return lex_.fail_at(start, "an address has 32 or 64 bits");
  module_.address_size = bits;
  return true;
}

bool Parser::alias() {
  std::string_view from, to;
  if (!name(from, "the name of an alias") || !lex_.expect(',') ||
      !name(to, "the function that the alias names"))
    return false;
  const Symbol f = symbols_.find(from, hash(from)), t = symbols_.find(to, hash(to));
  if (t.kind != Symbol::Kind::function)
    return lex_.fail_at(to.data(), fmt::format("`{}` is not a function declared so far", to));
  if (f.kind != Symbol::Kind::function)
    return lex_.fail_at(from.data(), fmt::format("`{}` is not a function declared so far", from));
  std::uint32_t target = t.index;  // follows aliases to the function itself
  while (module_.functions[target].alias_of != none) target = module_.functions[target].alias_of;
  if (target == f.index)
    return lex_.fail_at(from.data(), fmt::format("`{}` is an alias of itself", from));
  if (module_.functions[f.index].has_body)
    return lex_.fail_at(from.data(),
                        fmt::format("`{}` has a body, so it cannot be an alias", from));
  if (!same_signature(module_.functions[f.index], module_.functions[target]))
    return lex_.fail_at(
        from.data(), fmt::format("`{}` and `{}` have different parameters or results", from, to));
  module_.functions[f.index].alias_of = target;
  return lex_.expect(';');
}

bool Parser::pragma() {
  do {
    std::string_view text;
    if (!lex_.string(text)) return false;
  } while (lex_.accept(','));
  return lex_.expect(';');
}

tl::expected<Module, Error> parse(std::shared_ptr<const std::string> text, std::string name) {
  if (!text) return tl::unexpected(Error{"there is no text to parse"});
  return Parser(std::move(text), std::move(name)).run();
}

}  // namespace inflight::ptx
