// The names of an enum's values, as its definition writes them.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace inflight::check {

// Empty if the enum has no such value. A keyword's underscore is left out: `volatile_`.
template <auto value>
constexpr std::string_view enumerator() {
  // gcc: "... [with auto value = ns::Enum::name; ...]" or "... [with auto value = (ns::Enum)9;
  // ...]"
  std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view begin = "value = ";
  text.remove_prefix(text.find(begin) + begin.size());
  text = text.substr(0, text.find_first_of(";]"));
  if (text.find(')') != std::string_view::npos) return {};
  text.remove_prefix(text.rfind(':') + 1);
  return text.ends_with('_') ? text.substr(0, text.size() - 1) : text;
}

// For enums whose values count from 0 to at most 31.
template <class Enum>
inline constexpr auto enumerators = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array{enumerator<static_cast<Enum>(i)>()...};
}
(std::make_index_sequence<32>());

template <class Enum>
constexpr std::string_view name_of(Enum value) {
  return enumerators<Enum>.at(static_cast<std::size_t>(value));
}

// Calls f for each value of the enum, in order.
template <class Enum, class F>
constexpr void each_enumerator(F f) {
  for (std::size_t i = 0; i < enumerators<Enum>.size() && !enumerators<Enum>[i].empty(); ++i)
    f(static_cast<Enum>(i));
}

}  // namespace inflight::check
