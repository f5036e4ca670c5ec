// Finds source files and reads their includes.
#include "tests/house/includes.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

namespace inflight::house {

namespace fs = std::filesystem;

namespace {

bool is_source(const fs::path& path) {
  static const std::vector<std::string> endings = {".hpp", ".cpp", ".def", ".h", ".cuh", ".cu"};
  return std::find(endings.begin(), endings.end(), path.extension()) != endings.end();
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> sources_under(const fs::path& root, const std::string& folder) {
  std::vector<fs::path> result;
  for (const auto& each : fs::recursive_directory_iterator(root / folder))
    if (each.is_regular_file() && is_source(each.path()))
      result.push_back(each.path().lexically_relative(root));
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex line(R"re((?:^|\n)[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">])re");
  std::vector<Include> result;
  for (std::sregex_iterator each(text.begin(), text.end(), line), end; each != end; ++each)
    result.push_back({(*each)[2], (*each)[1] == "\""});
  return result;
}

// The file that an include names, from the root. None if it belongs to another project.
std::optional<fs::path> target_of(const Include& include) {
  if (include.name.starts_with("inflight/")) return fs::path("include") / include.name;
  if (include.quoted) return fs::path(include.name);
  return std::nullopt;
}

}  // namespace inflight::house
