// Checks that no source declares CUDA's entry points by hand. A prototype that the definition does
// not include may differ from it, and C linkage hides the difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// Returns each `TYPE NAME(...);` in which NAME is one of CUDA's.
std::vector<std::string> prototypes_in(const std::string& text) {
  static const std::regex unread(R"re(//[^\n]*|"(?:[^"\\\n]|\\.)*")re");
  static const std::regex prototype(
      R"re(\b(\w+)[\s*&]+((?:__)?cu(?:da)?[A-Z]\w*)\s*\([^{};]*\)\s*;)re");
  static const std::set<std::string> no_types{"return", "else",      "do",  "case", "throw",
                                              "new",    "co_return", "and", "or",   "not"};
  const std::string code = std::regex_replace(text, unread, "");
  std::vector<std::string> names;
  for (std::sregex_iterator each(code.begin(), code.end(), prototype), end; each != end; ++each)
    if (!no_types.contains((*each)[1])) names.push_back((*each)[2]);
  return names;
}

TEST(Prototypes, AreFound) {
  EXPECT_THAT(
      prototypes_in("extern \"C\" {\nint cudaMalloc(void**, std::size_t);\n"
                    "const char* cudaGetErrorName(int);\nvoid **\n__cudaRegister(int a,\n b);\n}"),
      ElementsAre("cudaMalloc", "cudaGetErrorName", "__cudaRegister"));
  EXPECT_THAT(prototypes_in("cudaError_t cudaFree(void*);\nstd::uint64_t& cuCount(int);\n"
                            "EXPORT CUresult\ncuInit(unsigned flags);"),
              ElementsAre("cudaFree", "cuCount", "cuInit"));
  EXPECT_THAT(prototypes_in("// It calls cudaFree(p);\ncall(\"int cudaFree(void*);\");\n"
                            "const auto e = cudaFree(p);\nif (x) a();\nelse cudaFree(p);"),
              IsEmpty());
  EXPECT_THAT(prototypes_in("int cudaFree(void* p) { return free(p); }\n"
                            "int f() { return cudaFree(nullptr); }\nint cube(int);"),
              IsEmpty());
}

TEST(Prototypes, OfEntryPointsThereAreNone) {
  for (const auto& each : fs::recursive_directory_iterator(INFLIGHT_ROOT "/gpu")) {
    if (each.path().extension() != ".hpp" && each.path().extension() != ".cpp") continue;
    std::ifstream file(each.path());
    EXPECT_THAT(prototypes_in(std::string(std::istreambuf_iterator<char>(file), {})), IsEmpty())
        << each.path();
  }
}

}  // namespace
