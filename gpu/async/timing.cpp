// Reads the value of --async.
#include "gpu/async/timing.hpp"

#include <charconv>

namespace inflight::async {

std::optional<Timing> parse_timing(std::string_view text) {
  constexpr std::string_view shuffled = "shuffled";
  if (text == "early") return Timing{Timing::Policy::early, 0};
  if (text == "late") return Timing{Timing::Policy::late, 0};
  if (text == shuffled) return Timing{Timing::Policy::shuffled, 0};
  if (!text.starts_with("shuffled:")) return {};
  text.remove_prefix(shuffled.size() + 1);
  Timing timing{Timing::Policy::shuffled, 0};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), timing.seed);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return timing;
}

}  // namespace inflight::async
