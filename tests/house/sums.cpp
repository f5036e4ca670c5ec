// Judges operands by the last word of their names: destination_pitch is a pitch, a.base an address.
#include "tests/house/sums.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace inflight::house {
namespace {

constexpr std::array<std::string_view, 12> addresses = {
    "address", "base",    "begin",  "at", "place", "destination",
    "source",  "pointer", "offset", "to", "from",  "address_of"};
constexpr std::array<std::string_view, 8> sizes = {"bytes",   "size",   "length", "width",
                                                   "padding", "extent", "pitch",  "slice"};
constexpr std::array<std::string_view, 2> pitches = {"pitch", "slice"};
constexpr std::array<std::string_view, 4> casts = {"static_cast", "uint64_t", "size_t",
                                                   "uintptr_t"};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

// One side of an operator: the text, the name that says what it is, and whether it is a call.
struct Operand {
  std::string_view text, name;
  bool called = false;

  bool among(std::span<const std::string_view> words) const {
    const std::size_t last = name.find_last_of('_');
    const std::string_view word = last == name.npos ? name : name.substr(last + 1);
    return std::ranges::find(words, name) != words.end() ||
           std::ranges::find(words, word) != words.end();
  }
  bool is_checked() const { return text.find("Checked") != text.npos; }
  // Iterators, the size of a container and that of a page are none that a program chose.
  bool is_address() const { return among(addresses) && !(called && name == "begin"); }
  bool is_size() const {
    return among(sizes) && !(called && name == "size") && !name.ends_with("page_bytes");
  }
  bool is_pitch() const { return among(pitches); }
};

// The bracket that belongs to the one at `at`, in direction `step`.
std::size_t partner(std::string_view code, std::size_t at, int step) {
  int depth = 0;
  for (std::size_t i = at; i < code.size(); i += static_cast<std::size_t>(step)) {
    if (code[i] == '(' || code[i] == '[') depth += step;
    if (code[i] == ')' || code[i] == ']') depth -= step;
    if (depth == 0) return i;
  }
  return at;
}

std::string_view last_name(std::string_view text) {
  while (!text.empty() && !is_name(text.back())) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  return text.substr(begin);
}

// What an operand's text names: of `a.b(c)` that is b, of a cast its argument.
Operand operand_of(std::string_view text) {
  Operand result{text, {}, false};
  std::string_view rest = text;
  while (!rest.empty() && (rest.back() == ')' || rest.back() == ']')) {
    const std::size_t open = partner(rest, rest.size() - 1, -1);
    const std::string_view inside = rest.substr(open + 1, rest.size() - open - 2);
    result.called = rest.back() == ')';
    rest = rest.substr(0, open);
    const std::string_view before = last_name(rest.substr(0, rest.find('<')));
    if (result.called && std::ranges::find(casts, before) != casts.end()) {
      result = operand_of(inside);
      result.text = text;
      return result;
    }
  }
  result.name = last_name(rest);
  return result;
}

// The operand that ends before `end`.
Operand left_of(std::string_view code, std::size_t end) {
  while (end > 0 && is_space(code[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0) {
    const char c = code[begin - 1];
    if (c == ')' || c == ']')
      begin = partner(code, begin - 1, -1);
    else if (is_name(c) || c == '.' || c == ':')
      --begin;
    else if (c == '>' && begin > 1 && code[begin - 2] == '-')
      begin -= 2;
    else if (c == '>' && begin < end && code[begin] == '(' &&
             code.rfind("_cast<", begin) != code.npos)
      begin = code.rfind('<', begin - 1);
    else
      break;
  }
  return operand_of(code.substr(begin, end - begin));
}

// The operand that begins at `begin` or behind.
Operand right_of(std::string_view code, std::size_t begin) {
  while (begin < code.size() && is_space(code[begin])) ++begin;
  std::size_t end = begin;
  while (end < code.size()) {
    const char c = code[end];
    if (c == '(' || c == '[')
      end = partner(code, end, 1) + 1;
    else if (is_name(c) || c == '.' || c == ':')
      ++end;
    else if (c == '-' && end + 1 < code.size() && code[end + 1] == '>')
      end += 2;
    else if (c == '<' && code.substr(begin, end - begin).ends_with("_cast"))
      end = std::min(code.find('>', end), code.size() - 1) + 1;
    else
      break;
  }
  return operand_of(code.substr(begin, end - begin));
}

}  // namespace

std::vector<std::string> raw_sums(std::string_view code) {
  std::vector<std::string> found;
  for (std::size_t i = 1; i + 1 < code.size(); ++i) {
    const char c = code[i];
    // An operator with two operands stands between spaces, as the source is formatted.
    const bool assigns = code[i + 1] == '=';
    if ((c != '+' && c != '*') || !is_space(code[i - 1]) || (!assigns && !is_space(code[i + 1])))
      continue;
    const Operand left = left_of(code, i), right = right_of(code, i + (assigns ? 2 : 1));
    if (left.text.empty() || right.text.empty()) continue;
    if (left.is_checked() || right.is_checked()) continue;
    const bool sum = c == '+' && ((left.is_address() && right.is_size()) ||
                                  (left.is_size() && right.is_address()));
    const bool product = c == '*' && (left.is_pitch() || right.is_pitch());
    if (sum || product)
      found.push_back(std::string(left.text) + ' ' + c + (assigns ? "= " : " ") +
                      std::string(right.text));
  }
  return found;
}

}  // namespace inflight::house
