// Writes a register limit into PTX.
#include "gpu/compilers/register_limit.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace inflight::compilers {
namespace {

// The end of the comment or string that starts at `at`, or `at` if none does.
std::size_t past_aside(std::string_view text, std::size_t at) {
  const auto past = [&](std::string_view end, std::size_t from) {
    const auto found = text.find(end, from);
    return found == text.npos ? text.size() : found + end.size();
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return past("\n", at);
  if (rest.starts_with("/*")) return past("*/", at + 2);
  if (rest.starts_with("\"")) return past("\"", at + 1);
  return at;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '.';
}

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

bool decides_itself(std::string_view directive) {
  constexpr std::string_view directives[] = {".maxnreg", ".maxntid", ".minnctapersm", ".reqntid"};
  return std::find(std::begin(directives), std::end(directives), directive) != std::end(directives);
}

}  // namespace

std::string limit_registers(std::string_view ptx, unsigned limit) {
  if (limit == 0) return std::string(ptx);
  const std::string directive = ".maxnreg " + std::to_string(limit) + "\n";
  std::string result;
  bool in_head = false, free = false;  // between .entry and body or end; no directive of its own
  for (std::size_t at = 0; at < ptx.size();) {
    std::size_t end = past_aside(ptx, at);
    if (end == at) {
      const std::string_view word = word_at(ptx, at);
      end = at + std::max<std::size_t>(word.size(), 1);
      if (word == ".entry") in_head = free = true;
      if (decides_itself(word)) free = false;
      if (in_head && ptx[at] == '{' && free) result += directive;
      if (ptx[at] == '{' || ptx[at] == ';') in_head = false;
    }
    result += ptx.substr(at, end - at);
    at = end;
  }
  return result;
}

unsigned register_limit(std::string_view value) {
  unsigned limit = 0;
  const char* end = value.data() + value.size();
  const auto number = std::from_chars(value.data(), end, limit);
  return number.ec == std::errc{} && number.ptr == end ? limit : 0;
}

}  // namespace inflight::compilers
