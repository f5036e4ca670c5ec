// Demangles names of kernels and functions, and shortens those of templates.
#include "gpu/check/names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "gpu/check/printable.hpp"

namespace inflight::check {
namespace {

constexpr std::string_view operators[] = {
    "operator<=>", "operator<<=", "operator>>=", "operator->*", "operator<<", "operator>>",
    "operator<=",  "operator>=",  "operator->",  "operator<",   "operator>",  "->"};

// The length of an operator at `at` whose angle brackets enclose no arguments, or 0.
std::size_t operator_at(std::string_view text, std::size_t at) {
  for (std::string_view each : operators)
    if (text.substr(at).starts_with(each)) return each.size();
  return 0;
}

struct Cut {
  std::string text;
  int deepest = 0;        // nesting of template arguments
  bool balanced = false;  // every bracket has its partner
};

// Leaves out template arguments that are nested deeper than `depth`.
Cut cut_arguments(std::string_view name, int depth) {
  Cut cut;
  int nesting = 0;
  bool sound = true;
  for (std::size_t at = 0; at < name.size();) {
    if (const std::size_t length = operator_at(name, at)) {
      if (nesting <= depth) cut.text += name.substr(at, length);
      at += length;
      continue;
    }
    const char c = name[at++];
    if (c == '>') {
      sound &= --nesting >= 0;
      if (nesting == depth) cut.text += "...";
    }
    if (nesting <= depth) cut.text += c;
    if (c == '<') cut.deepest = std::max(cut.deepest, ++nesting);
  }
  cut.balanced = sound && nesting == 0;
  return cut;
}

// Removes tags such as "[abi:cxx11]". Numba puts a hundred characters of them into kernel names.
std::string without_tags(std::string text) {
  constexpr std::string_view begin = "[abi:";
  for (auto at = text.find(begin); at != text.npos; at = text.find(begin, at)) {
    const auto end = text.find(']', at);
    if (end == text.npos) break;
    text.erase(at, end + 1 - at);
  }
  return text;
}

// Replaces the parameters, which are in the last parentheses, by "(...)".
std::string cut_parameters(std::string_view name) {
  int nesting = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++nesting;
    if (name[at] != '(' || --nesting != 0) continue;
    const std::string_view after = name.substr(name.find_last_of(')') + 1);
    return std::string(name.substr(0, at)) + "(...)" + std::string(after);
  }
  return std::string(name);
}

// The qualified name that a mangled name begins with, without template arguments:
// "cutlass::device_kernel<...>(...)". For names that the demangler rejects, as it does those of
// more than 1,024 characters.
std::string outline(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  name.remove_prefix(name.starts_with("_ZN") ? 3 : 2);
  std::string text;
  for (;;) {
    if (name.starts_with('L')) name.remove_prefix(1);  // internal linkage
    std::size_t length = 0;
    const auto number = std::from_chars(name.data(), name.data() + name.size(), length);
    name.remove_prefix(static_cast<std::size_t>(number.ptr - name.data()));
    if (number.ec != std::errc{} || length > name.size()) break;
    const std::string_view part = name.substr(0, length);
    text += text.empty() ? "" : "::";
    text += part.starts_with("_GLOBAL__N_") ? "(anonymous namespace)" : part;
    name.remove_prefix(length);
  }
  if (name.starts_with('I')) text += "<...>";
  return text + "(...)";
}

}  // namespace

// Only names that a compiler mangled: the demangler takes any short text for a type, 's' for short.
std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z") && !name.starts_with("_GLOBAL_")) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : std::string(name);
}

std::string short_hash(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", hash);
  return digits;
}

std::string readable(std::string_view name, std::size_t most) {
  const std::string whole_name = demangled(name);
  std::string text = without_tags(whole_name);
  if (text.size() <= most) return printable(text);
  if (whole_name == name) text = outline(name);
  if (text.ends_with(')') || text.ends_with(" const")) text = cut_parameters(text);
  const Cut whole = cut_arguments(text, 0);
  if (whole.balanced)
    for (int depth = whole.deepest - 1; depth >= 0 && text.size() > most; --depth)
      text = cut_arguments(text, depth).text;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return printable(text) + " #" + short_hash(name);
}

}  // namespace inflight::check
