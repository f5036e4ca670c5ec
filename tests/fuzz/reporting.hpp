// What a fuzz target tells of what it does, so that a person can see what failed and what was
// tried.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace inflight::fuzz {

// What runs now, in words: the driver prints it if the process dies. Empty: the input says it all.
inline std::string& running() {
  static std::string text;
  return text;
}

// How many inputs did what: the driver prints it at the end.
inline std::map<std::string, long, std::less<>>& tallies() {
  static std::map<std::string, long, std::less<>> counts;
  return counts;
}
inline void tally(std::string_view what) {
  auto& counts = tallies();
  auto it = counts.find(what);
  if (it == counts.end()) it = counts.emplace(what, 0).first;
  ++it->second;
}

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}
inline void require(bool holds, std::string_view what) {
  if (!holds) fail("a promise is broken: " + std::string(what));
}

}  // namespace inflight::fuzz
