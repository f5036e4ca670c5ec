// Cycles of includes between folders.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace inflight::house {

// The arrows between folders that lie on a cycle, each "FROM -> TO", in order. `folders`: those
// under `root` whose files are read; their subfolders are folders of their own.
std::vector<std::string> arrows_on_cycles(const std::filesystem::path& root,
                                          const std::vector<std::string>& folders);

// The lines of a list, without comments and empty ones.
std::vector<std::string> lines_of(std::string_view list);

}  // namespace inflight::house
