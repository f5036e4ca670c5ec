// Checks that the files that docs/architecture.md and docs/architecture/hops.md name exist, and the
// hops of the walks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/house/source.hpp"

namespace inflight::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string hops() { return read(INFLIGHT_ROOT "/docs/architecture/hops.md"); }
std::string document() { return read(INFLIGHT_ROOT "/docs/architecture.md") + hops(); }

// Returns the paths in backquotes: names with a slash between them. NAME in capitals matches any
// name.
std::vector<std::string> paths_in(const std::string& text) {
  static const std::regex path(R"re(`([\w.-]+(?:/[\w.-]+)+/?)`)re");
  std::vector<std::string> result;
  for (std::sregex_iterator each(text.begin(), text.end(), path), end; each != end; ++each)
    result.push_back((*each)[1]);
  return result;
}

// The files that a path from the root or from gpu/ means: `machine/run/warp` is
// gpu/machine/run/warp.hpp and .cpp.
std::vector<fs::path> files_of(const std::string& path) {
  for (const char* const from : {"", "gpu/"}) {
    std::vector<fs::path> found;
    for (const char* const ending : {"", ".hpp", ".cpp", ".def"})
      if (const fs::path file = fs::path(INFLIGHT_ROOT) / (from + path + ending); fs::exists(file))
        found.push_back(file);
    if (!found.empty()) return found;
  }
  return {};
}

bool exists(std::string path) {
  if (path.find("NAME") != path.npos) path = fs::path(path).parent_path();
  while (path.ends_with('/')) path.pop_back();
  return !files_of(path).empty();
}

TEST(Architecture, PathsAreFound) {
  EXPECT_THAT(paths_in("`run` (`machine/launch/launch`) and `gpu/cuda/runtime/`; "
                       "`docs/a/b`, `launch`, `a / b`"),
              ElementsAre("machine/launch/launch", "gpu/cuda/runtime/", "docs/a/b"));
  EXPECT_TRUE(exists("machine/launch/launch"));
  EXPECT_TRUE(exists("machine/families/NAME"));
  EXPECT_TRUE(exists("gpu/cuda/runtime/"));
  EXPECT_TRUE(exists("tests/house/rooms.txt"));
  EXPECT_FALSE(exists("machine/launch/lunch"));
  EXPECT_FALSE(exists("launch/launch"));
}

TEST(Architecture, NamesFilesThatAreThere) {
  std::vector<std::string> missing;
  for (const std::string& path : paths_in(document()))
    if (!exists(path)) missing.push_back(path);
  EXPECT_THAT(missing, IsEmpty());
}

// A name in backquotes followed by its file in parentheses: `run_copy`
// (`machine/families/async_copy`).
struct Named {
  std::string name, path;
};
std::vector<Named> names_in(const std::string& text) {
  static const std::regex named(R"re(`([\w:~]+)`,?\s+(?:in\s+)?\(?`([\w.-]+(?:/[\w.-]+)+)`)re");
  std::vector<Named> result;
  for (std::sregex_iterator each(text.begin(), text.end(), named), end; each != end; ++each)
    result.push_back({(*each)[1], (*each)[2]});
  return result;
}

std::string all_code_of(const std::string& path) {
  static std::map<std::string, std::string> known;
  const auto [at, is_new] = known.try_emplace(path);
  if (!is_new) return at->second;
  const auto add = [&](const fs::path& file) { at->second += code_of(read(file)) + "\n"; };
  for (const fs::path& file : files_of(path)) {
    if (!fs::is_directory(file)) add(file);
    if (fs::is_directory(file))
      for (const auto& each : fs::recursive_directory_iterator(file))
        if (each.is_regular_file()) add(each.path());
  }
  return at->second;
}

// A name without its class.
std::string own_name(const std::string& name) { return name.substr(name.rfind(':') + 1); }

TEST(Architecture, NamesWhatItsFilesHave) {
  EXPECT_EQ(names_in("`run_copy` (`machine/families/async_copy`), `a` in `b/c`, `d`").size(), 2u);
  for (const auto& [name, path] : names_in(document()))
    EXPECT_TRUE(has_word(all_code_of(path), own_name(name))) << name << " is not in " << path;
}

// One row of a walk's table.
struct Hop {
  std::string step, file, function;
  std::vector<std::string> to;
};
using Walk = std::vector<Hop>;

std::vector<std::string> quoted_in(const std::string& cell) {
  static const std::regex quoted("`([^`]+)`");
  std::vector<std::string> result;
  for (std::sregex_iterator each(cell.begin(), cell.end(), quoted), end; each != end; ++each)
    result.push_back((*each)[1]);
  return result;
}

std::string only(const std::vector<std::string>& one) {
  return one.size() == 1 ? one.front() : std::string();
}

// The tables whose first line is `| step | file | function | hands to |`.
std::vector<Walk> walks_in(const std::string& text) {
  static const std::regex row(R"re(\| *([^|]*?) *\| *([^|]*?) *\| *([^|]*?) *\| *([^|]*?) *\|)re");
  std::vector<Walk> walks;
  bool inside = false;
  std::istringstream lines(text);
  std::smatch cells;
  for (std::string line; std::getline(lines, line);) {
    if (line == "| step | file | function | hands to |") {
      inside = true;
      walks.emplace_back();
      std::getline(lines, line);
    } else if (inside && std::regex_match(line, cells, row)) {
      walks.back().push_back(
          {cells[1], only(quoted_in(cells[2])), only(quoted_in(cells[3])), quoted_in(cells[4])});
    } else {
      inside = false;
    }
  }
  return walks;
}

// What is wrong with a walk: a file or function that does not exist, a function that does not hand
// to what its row says, and one that no earlier row of its step or walk hands to.
std::vector<std::string> mistakes_of(const Walk& walk) {
  std::vector<std::string> mistakes;
  std::set<std::string> given;
  for (const Hop& hop : walk) {
    const std::string at = hop.file + ", " + hop.function;
    const std::string definitions = definitions_of(all_code_of(hop.file), hop.function);
    if (hop.file.empty() || hop.function.empty() || definitions.empty())
      mistakes.push_back(at + " is not defined.");
    if (hop.step.empty() && !given.contains(own_name(hop.function)))
      mistakes.push_back(at + " is reached from no earlier row.");
    for (const std::string& to : hop.to) {
      given.insert(own_name(to));
      if (!has_word(definitions, own_name(to)))
        mistakes.push_back(at + " does not hand to " + to + ".");
    }
  }
  return mistakes;
}

TEST(Architecture, AWalkIsATableOfHops) {
  const auto walks = walks_in(
      "## A walk\n"
      "| step | file | function | hands to |\n"
      "|---|---|---|---|\n"
      "| Issue | `machine/families/async_copy` | `run_copy` | `check`, `ThreadCopies::issue` |\n"
      "|  | `async/thread_copies` | `ThreadCopies::issue` |  |\n"
      "\n"
      "| a | b | c | d |\n");
  ASSERT_EQ(walks.size(), 1u);
  ASSERT_EQ(walks[0].size(), 2u);
  EXPECT_EQ(walks[0][0].step, "Issue");
  EXPECT_THAT(walks[0][0].to, ElementsAre("check", "ThreadCopies::issue"));
  EXPECT_EQ(walks[0][1].function, "ThreadCopies::issue");
  EXPECT_THAT(mistakes_of(walks[0]), IsEmpty());
}

TEST(Architecture, WrongHopsAreMistakes) {
  const std::string file = "machine/families/async_copy", other = "async/thread_copies";
  EXPECT_THAT(mistakes_of({{"Issue", file, "run_copy", {"ThreadCopies::commit"}},
                           {"", other, "ThreadCopies::commit", {}},
                           {"", other, "ThreadCopies::issue", {}},
                           {"Wait", other, "wait_for_nothing", {}},
                           {"Wait", "async/threads_copy", "run_copy", {}}}),
              ElementsAre(file + ", run_copy does not hand to ThreadCopies::commit.",
                          other + ", ThreadCopies::issue is reached from no earlier row.",
                          other + ", wait_for_nothing is not defined.",
                          "async/threads_copy, run_copy is not defined."));
}

TEST(Architecture, EachHopOfAWalkIsInTheCode) {
  const auto walks = walks_in(hops());
  EXPECT_GE(walks.size(), 7u);
  for (const Walk& walk : walks) {
    EXPECT_GT(walk.size(), 10u);
    EXPECT_THAT(mistakes_of(walk), IsEmpty());
  }
}

}  // namespace
}  // namespace inflight::house
