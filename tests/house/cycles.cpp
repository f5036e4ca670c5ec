// Finds arrows between folders that lead back to where they begin.
#include "tests/house/cycles.hpp"

#include <map>
#include <set>
#include <sstream>

#include "tests/house/includes.hpp"

namespace inflight::house {
namespace {

namespace fs = std::filesystem;
using Arrows = std::map<std::string, std::set<std::string>>;

Arrows arrows_between(const fs::path& root, const std::vector<std::string>& folders) {
  Arrows arrows;
  for (const std::string& top : folders)
    for (const fs::path& file : sources_under(root, top))
      for (const Include& include : includes_of(read_file(root / file))) {
        const auto target = target_of(include);
        if (!target || !fs::exists(root / *target)) continue;
        const std::string from = file.parent_path().generic_string(),
                          to = target->parent_path().generic_string();
        if (from != to) arrows[from].insert(to);
      }
  return arrows;
}

// The folders that `from` leads to, by one arrow or more.
std::set<std::string> reached(const Arrows& arrows, const std::string& from) {
  std::set<std::string> seen;
  std::vector<std::string> queue{from};
  while (!queue.empty()) {
    const auto next = arrows.find(queue.back());
    queue.pop_back();
    if (next == arrows.end()) continue;
    for (const std::string& to : next->second)
      if (seen.insert(to).second) queue.push_back(to);
  }
  return seen;
}

}  // namespace

std::vector<std::string> arrows_on_cycles(const fs::path& root,
                                          const std::vector<std::string>& folders) {
  const Arrows arrows = arrows_between(root, folders);
  std::map<std::string, std::set<std::string>> leads_to;
  for (const auto& [from, all] : arrows) leads_to[from] = reached(arrows, from);
  std::vector<std::string> found;
  for (const auto& [from, all] : arrows)
    for (const std::string& to : all)
      if (leads_to[to].contains(from)) found.push_back(from + " -> " + to);
  return found;
}

std::vector<std::string> lines_of(std::string_view list) {
  std::vector<std::string> lines;
  std::istringstream text{std::string(list)};
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && !line.starts_with('#')) lines.push_back(line);
  return lines;
}

}  // namespace inflight::house
