// A scanner of braces, names and literals. It knows no grammar beyond that.
#include "tests/house/source.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace inflight::house {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

std::string_view trimmed_end(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The end of a literal that begins at `at` with a quote.
std::size_t end_of_literal(std::string_view source, std::size_t at) {
  const char quote = source[at];
  for (++at; at < source.size() && source[at] != quote && source[at] != '\n'; ++at)
    if (source[at] == '\\') ++at;
  return std::min(at + 1, source.size());
}

// The same for R"mark(...)mark", whose quote is at `at`.
std::size_t end_of_raw_literal(std::string_view source, std::size_t at) {
  const std::size_t open = source.find('(', at);
  if (open == npos) return source.size();
  const std::string close = ")" + std::string(source.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t end = source.find(close, open);
  return end == npos ? source.size() : end + close.size();
}

// The brace that closes the one at `open`.
std::size_t closing(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '{') ++depth;
    if (code[i] == '}' && --depth == 0) return i;
  }
  return code.size();
}

std::size_t find_word(std::string_view code, std::string_view word, std::size_t from = 0) {
  for (std::size_t at = code.find(word, from); at != npos; at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_name(code[at - 1])) && (end == code.size() || !is_name(code[end])))
      return at;
  }
  return npos;
}

// The definition whose name ends at `at`: up to its last brace. Empty: it is a use, or a
// declaration.
std::string_view definition_at(std::string_view code, std::size_t at) {
  std::size_t first = at;
  while (first < code.size() && is_space(code[first])) ++first;
  const bool has_parameters = first < code.size() && code[first] == '(';
  int depth = 0;
  for (std::size_t i = at; i < code.size(); ++i) {
    const char c = code[i];
    if (c == ';') return {};
    if (c == '(') ++depth;
    // A condition around a call: if (name(x)) {
    if (c == ')' && --depth < 0 && has_parameters) return {};
    if (c != '{') continue;
    const std::size_t end = closing(code, i);
    const auto before = trimmed_end(code.substr(at, i - at));
    const bool is_default = depth > 0 && before.ends_with('=');
    const bool is_empty = trimmed_end(code.substr(i + 1, end - i - 1)).empty();
    if (!is_default && !is_empty) return code.substr(at, end + 1 - at);
    i = end;
  }
  return {};
}

// Reads the types of a source. `open_` has a namespace, or nothing, for each open brace.
class TypeReader {
 public:
  explicit TypeReader(std::string_view code) : code_(code) {}

  Types read() {
    while (at_ < code_.size()) {
      const char c = code_[at_];
      if (c == '{') open_.push_back(std::nullopt);
      if (c == '}' && !open_.empty()) open_.pop_back();
      if (!is_name(c)) {
        ++at_;
        continue;
      }
      const auto word = take_name();
      if (word == "namespace") {
        begin_namespace();
      } else if (word == "class" || word == "struct" || word == "union" || word == "enum") {
        if (last_ != "using" && last_ != "enum" && !in_template_) type(word == "enum");
      } else if (word == "template") {
        skip_template();
        continue;
      }
      in_template_ = false;
      last_ = word;
    }
    return std::move(types_);
  }

 private:
  std::string_view take_name() {
    const std::size_t begin = at_;
    while (at_ < code_.size() && is_name(code_[at_])) ++at_;
    return code_.substr(begin, at_ - begin);
  }
  void skip_space() {
    while (at_ < code_.size() && is_space(code_[at_])) ++at_;
  }
  // A qualified name; empty if none is here.
  std::string_view take_qualified() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < code_.size() && (is_name(code_[at_]) || code_.substr(at_, 2) == "::"))
      at_ += is_name(code_[at_]) ? 1 : 2;
    return code_.substr(begin, at_ - begin);
  }
  void begin_namespace() {
    const auto name = take_qualified();
    skip_space();
    if (at_ < code_.size() && code_[at_] == '{') ++at_, open_.emplace_back(name);
  }
  void skip_template() {
    skip_space();
    int depth = 0;
    for (; at_ < code_.size(); ++at_) {
      if (code_[at_] == '<') ++depth;
      if (code_[at_] == '>' && --depth == 0) break;
    }
    in_template_ = true;
  }
  // After the keyword. What follows tells a definition from a declaration; a variable, a parameter
  // or a friend is neither.
  void type(bool is_enum) {
    std::string_view name = take_qualified();
    if (is_enum && (name == "class" || name == "struct")) name = take_qualified();
    while (name == "alignas" || (name.empty() && code_.substr(at_, 2) == "[[")) {
      at_ = code_.find_first_of(")]", at_);
      at_ = at_ == npos ? code_.size() : code_.find_first_not_of(")]", at_);
      name = take_qualified();
    }
    const std::size_t end = code_.find_first_of(";{}()=", at_);
    if (name.empty() || end == npos) return;
    const auto rest = trimmed_end(code_.substr(at_, end - at_));
    const bool outside =
        std::all_of(open_.begin(), open_.end(), [](const auto& each) { return each.has_value(); });
    if (!outside || last_ == "friend") return;
    if (code_[end] == '{') types_.defined.push_back(full(name));
    if (code_[end] == ';' && (rest.empty() || rest.find_first_not_of(" \n") == rest.find(':')))
      types_.declared.push_back(full(name));
  }
  std::string full(std::string_view name) const {
    std::string result;
    for (const auto& each : open_)
      if (!each->empty()) result += *each + "::";
    return result + std::string(name);
  }

  std::string_view code_, last_;
  std::size_t at_ = 0;
  bool in_template_ = false;
  std::vector<std::optional<std::string>> open_;
  Types types_;
};

}  // namespace

std::string code_of(std::string_view source) {
  std::string code;
  for (std::size_t i = 0; i < source.size();) {
    const char c = source[i];
    const auto two = source.substr(i, 2);
    std::size_t end = i + 1;
    if (two == "//") {
      end = std::min(source.find('\n', i), source.size());
    } else if (two == "/*") {
      end = source.find("*/", i);
      end = end == npos ? source.size() : end + 2;
    } else if (c == '"' && i > 0 && source[i - 1] == 'R') {
      end = end_of_raw_literal(source, i);
    } else if (c == '"' || (c == '\'' && (i == 0 || !is_name(source[i - 1])))) {
      end = end_of_literal(source, i);
    } else {
      code += c;
      ++i;
      continue;
    }
    code += ' ';
    i = end;
  }
  return code;
}

bool has_word(std::string_view code, std::string_view word) {
  return find_word(code, word) != npos;
}

std::string definitions_of(std::string_view code, std::string_view name) {
  std::string all;
  for (std::size_t at = find_word(code, name); at != npos; at = find_word(code, name, at + 1)) {
    const auto before = trimmed_end(code.substr(0, at));
    if (before.ends_with('.') || before.ends_with("->") || before.ends_with("return")) continue;
    all += definition_at(code, at + name.size());
  }
  const std::size_t colon = name.rfind(':');
  return all.empty() && colon != npos ? definitions_of(code, name.substr(colon + 1)) : all;
}

Types types_of(std::string_view code) { return TypeReader(code).read(); }

}  // namespace inflight::house
