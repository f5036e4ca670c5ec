// Counts of launches that host code runs: they are the interpreter's.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "gpu/check/listener.hpp"
#include "gpu/machine/compile/compile.hpp"
#include "tests/unit/machine/one_kernel.hpp"
#include "tests/unit/machine/random_kernel.hpp"

namespace inflight::machine {
namespace {

class Counts : public check::Listener {
 public:
  check::Topic topics() const override { return check::Topic::kernels | check::Topic::counts; }
  void run_counted(const check::RunCount& e) override {
    for (const std::uint32_t each : e.instructions) {
      executed[each].first += e.warps, executed[each].second += e.threads;
      warps += e.warps, in_host_code += e.in_host_code;
    }
  }
  void access_counted(const check::AccessCount& e) override {
    accesses[{e.instruction, static_cast<int>(e.space), e.bytes}] += e.threads;
  }
  void blocks_counted(const check::BlockCount& e) override {
    divergent += e.divergent_branches, entries += e.host_code_entries;
  }
  void kernel_end(const check::KernelEnd& e) override {
    ended = e.host_code ? std::string(e.host_code->why_not) : "not asked";
    compiled = e.host_code ? e.host_code->instructions : 0;
  }
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> executed;
  std::map<std::tuple<std::uint32_t, int, std::uint32_t>, std::uint64_t> accesses;
  std::uint64_t divergent = 0, entries = 0, warps = 0, in_host_code = 0;
  std::uint32_t compiled = 0;
  std::string ended;
};

class CompiledCounts : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = compile::unavailable(); !why.empty()) GTEST_SKIP() << why;
  }
  static Counts count(OneKernel& kernel, Compile compile, std::uint32_t rounds) {
    Counts counts;
    kernel.options.listener = &counts;
    kernel.clear();
    if (compile == Compile::always) {
      const Kernel& k = *kernel.program->kernel("k");
      const Code& code = *prepared(*kernel.program)
                              .code({k.module, k.function}, CodeForm{.counted = true})
                              .value();
      compile::compiled(code, BlockRows::line, true);
    }
    kernel.options.workers = 1;
    EXPECT_TRUE(kernel.run(compile, rounds, {2}, {96}).ok());
    kernel.options.listener = nullptr;
    return counts;
  }
};

TEST_F(CompiledCounts, AreThoseOfTheInterpreter) {
  std::uint64_t in_host_code = 0, entries = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const std::string text = random_kernel(seed, true);
    OneKernel kernel(text);
    const Counts expected = count(kernel, Compile::never, 0);
    const auto words = kernel.words();
    const Counts found = count(kernel, Compile::always, 0);
    ASSERT_EQ(kernel.words(), words) << text;
    ASSERT_EQ(found.executed, expected.executed) << text;
    ASSERT_EQ(found.accesses, expected.accesses) << text;
    ASSERT_EQ(found.divergent, expected.divergent) << text;
    EXPECT_EQ(expected.in_host_code, 0u);
    EXPECT_EQ(expected.ended, "not asked");
    EXPECT_LE(found.in_host_code, found.warps);
    in_host_code += found.in_host_code, entries += found.entries;
  }
  EXPECT_GT(in_host_code, 0u);
  EXPECT_GT(entries, 0u);
}

TEST_F(CompiledCounts, SayWhoRanTheLaunch) {
  OneKernel kernel(sum_kernel());
  const Counts compiled = count(kernel, Compile::always, 1000);
  EXPECT_EQ(compiled.ended, "");
  EXPECT_GT(compiled.in_host_code * 100, compiled.warps * 99);  // the first ops count before it
  EXPECT_EQ(compiled.entries, 6u);                              // once a warp
  // What only counts is not one of its instructions.
  EXPECT_EQ(compiled.compiled,
            compile::compiled(kernel.code(), BlockRows::line, true).instructions);
  OneKernel other(sum_kernel());
  Counts counts;
  other.options.listener = &counts;
  ASSERT_TRUE(other.run(Compile::automatic, 3).ok());
  EXPECT_EQ(counts.ended, "it has not run for long enough");
  EXPECT_EQ(counts.in_host_code, 0u);
  other.options.turns.kind = Turns::Kind::fixed;
  other.options.turns.instructions = 5;
  ASSERT_TRUE(other.run(Compile::automatic, 3).ok());
  EXPECT_EQ(counts.ended, "--turns counts its instructions");
}

}  // namespace
}  // namespace inflight::machine
