// Checks that the files that docs/architecture.md names exist.
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

// Returns the paths in backquotes that begin with a folder of the tree or of gpu/:
// `machine/run/warp` is gpu/machine/run/warp.hpp or .cpp. NAME in capitals matches any name.
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

// A name in backquotes followed by its file in parentheses: `run_copy`
// (`machine/families/async_copy`).
struct Named {
  std::string name, path;
};
std::vector<Named> names_in(const std::string& text) {
  static const std::regex named(
      R"re(`([\w:~]+)`,?\s+\(?`((?:machine|cuda|async|ptx|check|tensor|texture)/[\w./]+)`)re");
  std::vector<Named> result;
  for (std::sregex_iterator each(text.begin(), text.end(), named), end; each != end; ++each)
    result.push_back({(*each)[1], (*each)[2]});
  return result;
}

std::string all_of(const std::string& path) {
  std::string text;
  const fs::path at = fs::path(INFLIGHT_ROOT) / "gpu" / path;
  const auto add = [&](const fs::path& file) {
    std::ifstream in(file);
    text.append(std::istreambuf_iterator<char>(in), {});
  };
  if (fs::is_directory(at))
    for (const auto& each : fs::recursive_directory_iterator(at)) add(each.path());
  for (const char* ending : {".hpp", ".cpp", ".def"}) add(at.string() + ending);
  return text;
}

TEST(Architecture, NamesWhatItsFilesHave) {
  EXPECT_EQ(names_in("`run_copy` (`machine/families/async_copy`) and `docs/a`").size(), 1u);
  std::ifstream file(INFLIGHT_ROOT "/docs/architecture.md");
  const auto named = names_in({std::istreambuf_iterator<char>(file), {}});
  EXPECT_GT(named.size(), 50u);
  for (const auto& [name, path] : named) {
    const std::string own = name.substr(name.rfind(':') + 1);  // without its class
    const std::regex word("\\b" + own + "\\b");
    EXPECT_TRUE(std::regex_search(all_of(path), word)) << name << " is not in " << path;
  }
}

}  // namespace
