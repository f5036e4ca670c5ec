// The messages of a fuzz target, so that a reader sees what failed and what was tried.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace inflight::fuzz {

// Describes what runs now. The driver prints it if the process dies. Empty: the input says it all.
inline std::string& running() {
  static std::string text;
  return text;
}

// Counts inputs by outcome. The driver prints the counts at the end.
inline std::map<std::string, long, std::less<>>& tallies() {
  static std::map<std::string, long, std::less<>> counts;
  return counts;
}
inline void tally(std::string_view what, long times = 1) {
  auto& counts = tallies();
  auto it = counts.find(what);
  if (it == counts.end()) it = counts.emplace(what, 0).first;
  it->second += times;
}

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}
inline void require(bool holds, std::string_view what) {
  if (!holds) fail("a promise is broken: " + std::string(what));
}

}  // namespace inflight::fuzz
