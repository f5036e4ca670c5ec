// Includes have one direction. Checks this tree against tests/house/rooms.txt, and the check itself
// against trees that break it.
#include "tests/house/rooms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace inflight::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Room> our_rooms() {
  std::ifstream file(INFLIGHT_ROOT "/tests/house/rooms.txt");
  auto rooms = read_rooms(std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_TRUE(rooms) << rooms.error();
  return rooms.value_or(std::vector<Room>{});
}

TEST(Rooms, NoIncludeGoesBackUp) {
  const std::vector<std::string> generated = {"gpu/loader/runtime_layouts.hpp",
                                              "gpu/loader/runtime_names.hpp", "cupti_names.def",
                                              "nvml_names.def"};
  EXPECT_THAT(find_breaches(our_rooms(), INFLIGHT_ROOT, {"gpu", "cli", "include"}, generated),
              IsEmpty());
}

TEST(Rooms, EveryRoomIsThere) {
  for (const Room& room : our_rooms())
    EXPECT_TRUE(fs::is_directory(fs::path(INFLIGHT_ROOT) / room.folder)) << room.folder;
}

TEST(Rooms, ATableGoesOneWay) {
  EXPECT_TRUE(read_rooms("a:\nb: a  # a comment\n\n# another\nc: a b\n"));
  EXPECT_EQ(read_rooms("a: b\nb:\n").error(), "a includes b, which does not stand above it.");
  EXPECT_EQ(read_rooms("a: a\n").error(), "a includes a, which does not stand above it.");
  EXPECT_EQ(read_rooms("a:\na:\n").error(), "a is there twice.");
  EXPECT_EQ(read_rooms("a b\n").error(), "'a b' is no line 'room: room...'.");
  EXPECT_THAT(read_rooms("a:\nb: a | n::C n::D\n")->back().declares, ElementsAre("n::C", "n::D"));
}

class Tree : public testing::Test {
 protected:
  Tree() {
    std::string name = (fs::temp_directory_path() / "inflight-rooms-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~Tree() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  // Without the permissions that nothing uses, unless they are asked for.
  std::vector<std::string> breaches(bool unused = false) {
    const auto rooms =
        read_rooms("gpu/low: | n::Passed\ngpu/high: gpu/low\ngpu/high/attic: gpu/low gpu/high\n");
    auto all = find_breaches(*rooms, root_, {"gpu"}, {"gpu/low/made.hpp"});
    if (!unused)
      std::erase_if(all, [](const std::string& each) { return each.ends_with("but does not."); });
    return all;
  }
  fs::path root_;
};

TEST_F(Tree, WhatTheTableAllowsIsNoBreach) {
  write("gpu/low/a.hpp", "#include <vector>\n#include \"gpu/low/made.hpp\"\n");
  write("gpu/high/b/c.cpp", "#include \"gpu/low/a.hpp\"\n#  include \"gpu/high/b/d.hpp\"\n");
  write("gpu/high/b/d.hpp", "// #include \"gpu/high/nothing.hpp\" is only said\n");
  write("gpu/high/attic/e.cpp", "#include \"gpu/high/b/d.hpp\"\n");
  EXPECT_THAT(breaches(), IsEmpty());
}

TEST_F(Tree, AnIncludeThatGoesBackUpIsABreach) {
  write("gpu/low/a.hpp", "#pragma once\n#include \"gpu/high/b.hpp\"\n");
  write("gpu/high/b.hpp", "#include \"gpu/high/attic/c.hpp\"\n");
  write("gpu/high/attic/c.hpp", "");
  EXPECT_THAT(breaches(),
              ElementsAre("gpu/high/b.hpp includes \"gpu/high/attic/c.hpp\", but gpu/high may not "
                          "include gpu/high/attic.",
                          "gpu/low/a.hpp includes \"gpu/high/b.hpp\", but gpu/low may not include "
                          "gpu/high."));
}

TEST_F(Tree, AFileOutsideOfEveryRoomIsABreach) {
  write("gpu/stray.cpp", "");
  write("gpu/low/a.cpp", "#include \"gpu/stray.hpp\"\n");
  write("gpu/stray.hpp", "");
  EXPECT_THAT(breaches(),
              ElementsAre(HasSubstr("gpu/stray.hpp\", which is in no room"),
                          "gpu/stray.cpp is in no room.", "gpu/stray.hpp is in no room."));
}

TEST_F(Tree, AnIncludeThatIsNotWrittenFromTheRootIsABreach) {
  write("gpu/high/a.cpp", "#include \"../low/b.hpp\"\n#include \"b.hpp\"\n");
  write("gpu/high/b.hpp", "");
  write("gpu/low/b.hpp", "");
  EXPECT_THAT(breaches(), ElementsAre(HasSubstr("\"../low/b.hpp\", which is no file"),
                                      HasSubstr("\"b.hpp\", which is no file")));
}

TEST_F(Tree, ADeclarationThatGoesBackUpIsABreach) {
  write(
      "gpu/high/a.hpp",
      "namespace n {\nclass High {};\nstruct Passed {\n  int a;\n};\nenum class Kind { a };\n}\n");
  write("gpu/low/b.hpp",
        "namespace n {\nclass High;  // of high\nstruct Passed;\nclass Own;\n"
        "enum class Kind : int;\n}\nnamespace m {\nclass High;\n}\nstruct other_project;\n");
  write("gpu/low/c.hpp", "namespace n {\nclass Own {\n  class High;\n};\n}\n");
  write("gpu/high/d.hpp", "namespace n {\nclass Own;\n}\n");
  EXPECT_THAT(
      breaches(),
      ElementsAre("gpu/low/b.hpp declares n::High of gpu/high, which gpu/low may not include.",
                  "gpu/low/b.hpp declares n::Kind of gpu/high, which gpu/low may not include."));
}

TEST_F(Tree, APermissionThatNothingUsesIsABreach) {
  write("gpu/low/a.hpp", "class Low {\n};\n");
  write("gpu/high/b.hpp", "class Low;\n");
  write("gpu/high/attic/c.hpp", "#include \"gpu/high/b.hpp\"\n");
  EXPECT_THAT(breaches(true), ElementsAre("gpu/low may declare n::Passed, but does not.",
                                          "gpu/high/attic may include gpu/low, but does not."));
}

}  // namespace
}  // namespace inflight::house
