// docs/architecture.md names files that are there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// Paths in backquotes that begin with a folder of the tree or of gpu/: `machine/run/warp` is
// gpu/machine/run/warp.hpp or .cpp. NAME in capitals stands for any name.
std::vector<std::string> paths_in(const std::string& text) {
  static const std::regex path(
      R"re(`((?:gpu/)?(?:machine|cuda|async|ptx|check|trace|loader|compilers|profiling)/[\w./]+)`)re");
  std::vector<std::string> result;
  for (std::sregex_iterator each(text.begin(), text.end(), path), end; each != end; ++each)
    result.push_back((*each)[1]);
  return result;
}

bool exists(std::string path) {
  if (path.find("NAME") != path.npos) path = fs::path(path).parent_path();
  if (!path.starts_with("gpu/")) path = "gpu/" + path;
  const std::vector<std::string> endings = {"", ".hpp", ".cpp", ".def"};
  return std::any_of(endings.begin(), endings.end(), [&](const std::string& ending) {
    return fs::exists(fs::path(INFLIGHT_ROOT) / (path + ending));
  });
}

TEST(Architecture, PathsAreFound) {
  EXPECT_THAT(paths_in("`run` (`machine/launch/launch`) and `gpu/cuda/runtime/`; "
                       "`docs/a/b`, `launch`"),
              ElementsAre("machine/launch/launch", "gpu/cuda/runtime/"));
  EXPECT_TRUE(exists("machine/launch/launch"));
  EXPECT_TRUE(exists("machine/families/NAME"));
  EXPECT_FALSE(exists("machine/launch/lunch"));
}

TEST(Architecture, NamesFilesThatAreThere) {
  std::ifstream file(INFLIGHT_ROOT "/docs/architecture.md");
  std::vector<std::string> missing;
  for (const std::string& path : paths_in({std::istreambuf_iterator<char>(file), {}}))
    if (!exists(path)) missing.push_back(path);
  EXPECT_THAT(missing, IsEmpty());
}

}  // namespace
