// Compares findings by a key: kind, sentence, variable and functions.
#include "gpu/check/finding/alike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace inflight::check {
namespace {

std::string function_of(const Party& party) {
  const CodePlace& place = party.place;
  return place.kernel.empty() ? place.instruction
                              : fmt::format("{}\n{}", place.mangled, place.function);
}

// The key of a finding; empty if it is like no other.
std::string key_of(const Finding& f) {
  const auto on_host = [](const Party& party) { return party.place.kernel.empty(); };
  if (on_host(f.here) && std::all_of(f.there.begin(), f.there.end(), on_host)) return {};
  std::vector<std::string> sides{function_of(f.here)};
  for (const Party& each : f.there) sides.push_back(function_of(each));
  std::sort(sides.begin(), sides.end());  // either side of a race may be `here`
  std::string key = fmt::format("{}\n{}", facts_of(f.kind).id, f.sentence);
  if (f.bytes)
    key += fmt::format("\n{}\n{}", static_cast<unsigned>(f.bytes->space), f.bytes->variable);
  for (const std::string& each : sides) key += "\n" + each;
  return key;
}

}  // namespace

bool Alike::seen_before(const Finding& finding) {
  const std::string key = key_of(finding);
  return !key.empty() && !known_.insert(key).second;
}

std::vector<Group> groups_of(const std::vector<Finding>& findings) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> numbers;
  for (const Finding& each : findings) {
    const std::string key = key_of(each);
    const auto [at, added] = numbers.try_emplace(key, groups.size());
    if (added || key.empty())
      groups.push_back({&each, {}});
    else
      groups[at->second].others.push_back(&each);
  }
  return groups;
}

}  // namespace inflight::check
