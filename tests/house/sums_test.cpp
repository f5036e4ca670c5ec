// Sums of an address and a size that a program chose go through gpu/bytes, which refuses to wrap.
// Checks this tree, and the check itself against code that breaks the rule.
#include "tests/house/sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/house/source.hpp"

namespace inflight::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// What the paths of code begin with that receives ranges of memory from programs. Of the families
// of instructions, those that move more than a lane's registers.
constexpr std::string_view judged[] = {"gpu/blas/",
                                       "gpu/cuda/core/",
                                       "gpu/cuda/driver/",
                                       "gpu/cuda/runtime/",
                                       "gpu/curand/",
                                       "gpu/fft/",
                                       "gpu/machine/builtins/",
                                       "gpu/machine/children/",
                                       "gpu/machine/families/bulk",
                                       "gpu/machine/families/multimem",
                                       "gpu/machine/families/surface",
                                       "gpu/machine/families/tensor_map",
                                       "gpu/machine/families/texture",
                                       "gpu/machine/launch/",
                                       "gpu/machine/memory/"};

bool is_judged(const std::string& path) {
  return (path.ends_with(".cpp") || path.ends_with(".hpp")) &&
         std::ranges::any_of(judged, [&](std::string_view each) { return path.starts_with(each); });
}

TEST(Sums, AddressesAndSizesAreCheckedWhereTheyAreAdded) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(INFLIGHT_ROOT) / "gpu")) {
    const std::string path = fs::relative(entry.path(), INFLIGHT_ROOT).string();
    if (!is_judged(path)) continue;
    std::ifstream file(entry.path());
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& each : raw_sums(code_of(source))) found.push_back(path + ": " + each);
  }
  EXPECT_THAT(found, IsEmpty()) << "Use ByteRange, ByteBox or Checked of gpu/bytes.";
}

TEST(Sums, AnAddressPlusASizeIsRaw) {
  EXPECT_THAT(raw_sums("x = a.base + a.size;"), ElementsAre("a.base + a.size"));
  EXPECT_THAT(raw_sums("f(bytes + address_of(p));"), ElementsAre("bytes + address_of(p)"));
  EXPECT_THAT(raw_sums("x = it->first.base() + it->second.bytes;"),
              ElementsAre("it->first.base() + it->second.bytes"));
  EXPECT_THAT(raw_sums("at += range.bytes();"), ElementsAre("at += range.bytes()"));
  EXPECT_THAT(raw_sums("x = static_cast<std::uint64_t>(base) + padding;"),
              ElementsAre("static_cast<std::uint64_t>(base) + padding"));
}

TEST(Sums, AProductWithAPitchIsRaw) {
  EXPECT_THAT(raw_sums("x = row * t.source_pitch;"), ElementsAre("row * t.source_pitch"));
  EXPECT_THAT(raw_sums("x = (rows - 1) * pitch;"), ElementsAre("(rows - 1) * pitch"));
  EXPECT_THAT(raw_sums("x = level.slice * layers[i];"), ElementsAre("level.slice * layers[i]"));
}

TEST(Sums, CheckedAndOtherSumsAreNotRaw) {
  EXPECT_THAT(raw_sums("x = Checked(base) + bytes; y = Checked(pitch) * rows;"), IsEmpty());
  EXPECT_THAT(raw_sums("x = (Checked(z) * rows + y) * Checked(pitch);"), IsEmpty());
  EXPECT_THAT(raw_sums("x = i + 1; y = at + text.size(); ++base; f(*pitch); z = bytes * 2;"),
              IsEmpty());
  EXPECT_THAT(raw_sums("x = base + box.offset(z, y); std::size_t* pitch;"), IsEmpty());
}

}  // namespace
}  // namespace inflight::house
