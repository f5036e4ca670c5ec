// Parses the value of --async.
#include "gpu/async/timing.hpp"

#include <charconv>

namespace inflight::async {

std::optional<Timing> parse_timing(std::string_view text) {
  constexpr std::string_view prefix = "shuffled:";
  if (text == "early") return early;
  if (text == "late") return late;
  if (!text.starts_with(prefix)) return {};
  text.remove_prefix(prefix.size());
  Timing timing{Timing::Policy::shuffled, 0};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), timing.seed);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return timing;
}

}  // namespace inflight::async
