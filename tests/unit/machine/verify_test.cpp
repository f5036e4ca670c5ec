// --compile verify: a wrong form is found, and where; what cannot run twice is only interpreted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu/machine/compile/compile.hpp"
#include "gpu/machine/run/block.hpp"
#include "tests/unit/machine/one_kernel.hpp"

namespace inflight::machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What host code does wrong, in one place of the grid each.
enum class Mistake { none, result, clock, outcome } mistake;
const Compiled* right = nullptr;

// One bit of what a thread of the second block stores, three cycles in the third, a trap in the
// fourth.
const Op* wrong(Warp& w, const Op* op) {
  const Code& code = *w.frame->code;
  const std::uint64_t block = w.block->linear;
  if (mistake == Mistake::outcome && block == 3 && w.index == 1)
    return w.fault(op, FaultKind::trap, 1, "trap");
  const Op* const next =
      right->entries[static_cast<std::size_t>(op - code.ops.data())].enter(w, op);
  std::uint64_t table = 0;
  std::memcpy(&table, w.block->grid->parameters, sizeof table);
  if (mistake == Mistake::result && block == 1 && w.index == 1)
    reinterpret_cast<std::uint32_t*>(table)[64 + 32 + 5] ^= 16;
  if (mistake == Mistake::clock && block == 2) w.budget -= 3;
  return next;
}

class CompileVerify : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = compile::unavailable(); !why.empty()) GTEST_SKIP() << why;
  }
  void listen(OneKernel& kernel) {
    kernel.options.differs = [this](const std::string& s) { differences.push_back(s); };
    kernel.options.advise = [this](const std::string&, const std::string& s) {
      advice.push_back(s);
    };
  }
  // As if one of its forms were wrong.
  std::unique_ptr<Compiled> plant(const OneKernel& kernel, Mistake what) {
    right = &compile::compiled(kernel.code(), BlockRows::line, true);
    mistake = what;
    auto planted = std::make_unique<Compiled>(*right);
    planted->entries[0].enter = &wrong;
    kernel.code().compiled[static_cast<std::size_t>(BlockRows::line)] = planted.get();
    return planted;
  }
  std::vector<std::string> differences, advice;
};

TEST_F(CompileVerify, AgreesWithRightCode) {
  OneKernel kernel(sum_kernel());
  listen(kernel);
  ASSERT_TRUE(kernel.run(Compile::never, 100).ok());
  const auto expected = kernel.words();
  kernel.clear();
  ASSERT_TRUE(kernel.run(Compile::verify, 100).ok());
  EXPECT_EQ(kernel.words(), expected);
  EXPECT_THAT(differences, IsEmpty());
  EXPECT_THAT(advice, IsEmpty());
}

TEST_F(CompileVerify, NamesTheBlockTheEntryAndTheWord) {
  OneKernel kernel(sum_kernel());
  listen(kernel);
  ASSERT_TRUE(kernel.run(Compile::never, 100).ok());
  const auto expected = kernel.words();
  kernel.clear();
  const auto planted = plant(kernel, Mistake::result);
  ASSERT_TRUE(kernel.run(Compile::always, 100).ok());
  EXPECT_NE(kernel.words(), expected);
  kernel.clear();
  ASSERT_TRUE(kernel.run(Compile::verify, 100).ok());
  EXPECT_EQ(kernel.words(), expected);  // the interpreter's
  EXPECT_THAT(
      differences,
      ElementsAre(AllOf(
          HasSubstr("Kernel k has other results in host code than interpreted from block (1, 0, 0) "
                    "on, entered at line 8 of its PTX: the word at 0x"),
          HasSubstr("404 bytes into a device allocation of 4096 bytes, is " +
                    fmt::format("{:#010x} interpreted and {:#010x} in host code", expected[101],
                                expected[101] ^ 16)),
          HasSubstr("Please report"))));
  EXPECT_THAT(advice, IsEmpty());
}

TEST_F(CompileVerify, FindsOtherOutcomesAndClocks) {
  OneKernel kernel(sum_kernel());
  listen(kernel);
  {
    const auto planted = plant(kernel, Mistake::outcome);
    EXPECT_TRUE(kernel.run(Compile::verify, 100).ok());
    EXPECT_THAT(differences, ElementsAre(AllOf(HasSubstr("from block (3, 0, 0) on"),
                                               HasSubstr("interpreted it ended well, and in host "
                                                         "code with \"trap"))));
  }
  differences.clear();
  kernel.code().compiled[static_cast<std::size_t>(BlockRows::line)] = right;
  const auto planted = plant(kernel, Mistake::clock);
  EXPECT_TRUE(kernel.run(Compile::verify, 100).ok());
  EXPECT_THAT(differences, ElementsAre(AllOf(HasSubstr("from block (2, 0, 0) on"),
                                             HasSubstr("its last block ended at cycle"))));
  EXPECT_THAT(advice, IsEmpty());
}

// It would wait for what the host did in the first run.
TEST_F(CompileVerify, OnlyInterpretsWhatCannotRunTwice) {
  OneKernel kernel(R"(
.visible .entry k(.param .u64 table, .param .u32 rounds)
{
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %rd1, [table];
LOOP:
  ld.volatile.global.u32 %r1, [%rd1]; setp.ne.u32 %p, %r1, 0; @%p bra LOOP;
  st.global.u32 [%rd1+4], 7;
  ret;
}
)");
  listen(kernel);
  const auto planted = plant(kernel, Mistake::result);
  EXPECT_TRUE(kernel.run(Compile::verify, 0, {1}, {32}).ok());
  EXPECT_EQ(kernel.words()[1], 7u);
  EXPECT_THAT(differences, IsEmpty());
  EXPECT_THAT(advice,
              ElementsAre("Kernel k was not compared with its host code: it may wait for "
                          "the host or another device, by ld.volatile.global.u32 at line 10."));
}

}  // namespace
}  // namespace inflight::machine
