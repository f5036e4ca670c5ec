// Checks that no source declares CUDA's entry points by hand. A prototype that the definition does
// not include may differ from it, and C linkage hides the difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// Returns each `TYPE NAME(...);` in which NAME is one of CUDA's.
std::vector<std::string> prototypes_in(const std::string& text) {
  static const std::regex prototype(
      R"re(\b(?:int|unsigned|char|void)[\s*]+((?:__)?cu(?:da)?[A-Z]\w*)\s*\([^{};]*\)\s*;)re");
  std::vector<std::string> names;
  for (std::sregex_iterator each(text.begin(), text.end(), prototype), end; each != end; ++each)
    names.push_back((*each)[1]);
  return names;
}

TEST(Prototypes, AreFound) {
  EXPECT_THAT(
      prototypes_in("extern \"C\" {\nint cudaMalloc(void**, std::size_t);\n"
                    "const char* cudaGetErrorName(int);\nvoid **\n__cudaRegister(int a,\n b);\n}"),
      ElementsAre("cudaMalloc", "cudaGetErrorName", "__cudaRegister"));
  EXPECT_THAT(prototypes_in("int cudaFree(void* p) { return free(p); }\n"
                            "int f() { return cudaFree(nullptr); }\nint cube(int);"),
              IsEmpty());
}

TEST(Prototypes, OfEntryPointsThereAreNone) {
  for (const auto& each : fs::recursive_directory_iterator(INFLIGHT_ROOT "/gpu/cuda")) {
    if (each.path().extension() != ".hpp" && each.path().extension() != ".cpp") continue;
    std::ifstream file(each.path());
    EXPECT_THAT(prototypes_in(std::string(std::istreambuf_iterator<char>(file), {})), IsEmpty())
        << each.path();
  }
}

}  // namespace
