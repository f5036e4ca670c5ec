// The source files of a tree, and what they include.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace inflight::house {

std::string read_file(const std::filesystem::path& path);

// The source files in `folder` and below, from the root, in order.
std::vector<std::filesystem::path> sources_under(const std::filesystem::path& root,
                                                 const std::string& folder);

struct Include {
  std::string name;
  bool quoted;  // "name", not <name>
};
std::vector<Include> includes_of(const std::string& text);

// The file that an include names, from the root. None if it belongs to another project.
std::optional<std::filesystem::path> target_of(const Include& include);

}  // namespace inflight::house
