// No new cycle of includes begins between folders. Checks this tree against tests/house/cycles.txt,
// and the check itself against small trees.
#include "tests/house/cycles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/house/includes.hpp"

namespace inflight::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Cycles, BetweenFoldersAreThoseThatAreKnown) {
  const auto known = lines_of(read_file(INFLIGHT_ROOT "/tests/house/cycles.txt"));
  EXPECT_THAT(arrows_on_cycles(INFLIGHT_ROOT, {"gpu", "include", "cli"}),
              testing::ElementsAreArray(known))
      << "An arrow that is only in the tree begins a cycle or makes one larger: turn it round. One "
         "that is only in the list is gone: delete its line.";
}

class SmallTrees : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cyclesXXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& file, const std::string& included) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << "#include \"" << included << "\"\n";
  }
  std::vector<std::string> found() { return arrows_on_cycles(root_, {"gpu"}); }

 private:
  fs::path root_;
};

TEST_F(SmallTrees, WithoutACycleHaveNone) {
  write("gpu/a/x.hpp", "gpu/b/y.hpp");
  write("gpu/b/y.hpp", "gpu/b/z.hpp");
  write("gpu/b/z.hpp", "gpu/b/y.hpp");  // within a folder
  write("gpu/a/w.hpp", "gpu/a/x.hpp");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(SmallTrees, HaveTheArrowsOfTheirCyclesFound) {
  write("gpu/a/x.hpp", "gpu/b/y.hpp");
  write("gpu/b/y.hpp", "gpu/b/deep/z.hpp");
  write("gpu/b/deep/z.hpp", "gpu/a/w.hpp");
  write("gpu/a/w.hpp", "none.hpp");
  write("gpu/c/v.hpp", "gpu/a/x.hpp");  // leads to the cycle, and not back
  EXPECT_THAT(found(), ElementsAre("gpu/a -> gpu/b", "gpu/b -> gpu/b/deep", "gpu/b/deep -> gpu/a"));
}

}  // namespace
}  // namespace inflight::house
