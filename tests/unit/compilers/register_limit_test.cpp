// A limit on registers becomes a directive of each kernel.
#include "gpu/compilers/register_limit.hpp"

#include <gtest/gtest.h>

#include "gpu/ptx/parse.hpp"

namespace inflight::compilers {
namespace {

std::uint32_t limit_of(const std::string& text, std::string_view kernel) {
  auto module = ptx::parse(std::make_shared<const std::string>(text), "test");
  EXPECT_TRUE(module) << module.error().message << "\n" << text;
  if (!module) return 0;
  for (const ptx::Function& function : module->functions) {
    if (function.name == kernel) return function.maxnreg;
  }
  ADD_FAILURE() << kernel;
  return 0;
}

const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";

TEST(RegisterLimit, ReachesEveryKernel) {
  const std::string text = limit_registers(
      head +
          ".entry a { ret; }\n.visible .entry b(.param .u64 p) // .entry { ;\n{ { ret; } }\n"
          ".func f { ret; }\n",
      40);
  EXPECT_EQ(limit_of(text, "a"), 40u);
  EXPECT_EQ(limit_of(text, "b"), 40u);
  EXPECT_EQ(limit_of(text, "f"), 0u);
}

TEST(RegisterLimit, LeavesKernelsThatDecide) {
  const std::string text = head +
                           ".entry a .maxnreg 20 { ret; }\n.entry b .maxntid 128, 1, 1 { ret; }\n"
                           ".entry c() .reqntid 64 { ret; }\n";
  EXPECT_EQ(limit_registers(text, 40), text);
}

TEST(RegisterLimit, LeavesAsides) {
  const std::string text =
      head +
      "/* .entry x { */ // .entry y {\n.file 1 \".entry z {\"\n.extern .entry w(.param .u64 p);\n";
  EXPECT_EQ(limit_registers(text, 40), text);
}

TEST(RegisterLimit, NoLimitChangesNothing) {
  EXPECT_EQ(limit_registers(".entry a { ret; }", 0), ".entry a { ret; }");
}

TEST(RegisterLimit, AnyTextHasAnEnd) {
  for (const char* text : {"", "/*", "\"", "//", ".entry", ".entry {", "{.entry", "/"})
    EXPECT_GE(limit_registers(text, 8).size(), std::string_view(text).size());
}

}  // namespace
}  // namespace inflight::compilers
