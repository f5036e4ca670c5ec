// When kernels are compiled: beside their run, with programs that end or go meanwhile, and what
// passes through host code.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gpu/machine/compile/compile.hpp"
#include "tests/unit/machine/one_kernel.hpp"
#include "tests/unit/machine/test_runtime.hpp"

namespace inflight::machine {
namespace {

using namespace std::chrono_literals;

class CompilePolicy : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = compile::unavailable(); !why.empty()) GTEST_SKIP() << why;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(CompilePolicy, LeavesAKernelThatRunsShortlyToTheInterpreter) {
  const OneKernel kernel(sum_kernel());
  ASSERT_TRUE(kernel.run(Compile::automatic, 10).ok());
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(kernel.made());
  EXPECT_FALSE(kernel.code().interpreted.load());
}

TEST_F(CompilePolicy, CompilesAKernelThatIsOftenLaunched) {
  const OneKernel kernel(sum_kernel());
  ASSERT_TRUE(kernel.run(Compile::never, 10).ok());
  const auto expected = kernel.words();
  for (int i = 0; i < 20000 && !kernel.made(); ++i)
    ASSERT_TRUE(kernel.run(Compile::automatic, 10).ok());
  ASSERT_TRUE(kernel.becomes_compiled());
  EXPECT_EQ(kernel.made()->why_not, "");
  kernel.clear();
  ASSERT_TRUE(kernel.run(Compile::automatic, 10).ok());
  EXPECT_EQ(kernel.words(), expected);
}

// Warps that have begun in the interpreter go on in host code.
TEST_F(CompilePolicy, EntersHostCodeDuringALaunch) {
  for (const unsigned workers : {1u, 4u}) {
    OneKernel kernel(sum_kernel());
    kernel.options.workers = workers;
    constexpr std::uint32_t rounds = 600000;
    ASSERT_TRUE(kernel.run(Compile::never, rounds).ok());
    const auto expected = kernel.words();
    kernel.clear();
    ASSERT_TRUE(kernel.run(Compile::automatic, rounds).ok());
    EXPECT_TRUE(kernel.becomes_compiled());
    EXPECT_EQ(kernel.words(), expected);
  }
}

TEST_F(CompilePolicy, LaunchesRunWhileTheirKernelIsCompiled) {
  OneKernel kernel(sum_kernel(30));
  kernel.options.workers = 3;
  constexpr std::uint32_t rounds = 2000;
  constexpr std::uint64_t part = OneKernel::bytes / 4;
  const auto run = [&](Compile compile, std::uint64_t t) {
    EXPECT_TRUE(kernel.run(compile, rounds, {4}, {64}, part * t).ok());
  };
  for (std::uint64_t t = 0; t < 3; ++t) run(Compile::never, t);
  const auto expected = kernel.words();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) run(Compile::automatic, t);
    });
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(kernel.becomes_compiled());
  EXPECT_EQ(kernel.words(), expected);
}

// It has blocks of another shape too, which have host code of their own.
TEST_F(CompilePolicy, EachShapeOfBlocksHasItsOwnCode) {
  const OneKernel kernel(sum_kernel());
  for (const Dim3 block : {Dim3{64}, Dim3{16, 4}, Dim3{32, 2}, Dim3{8, 8}}) {
    kernel.clear();
    ASSERT_TRUE(kernel.run(Compile::never, 30, {2}, block).ok());
    const auto expected = kernel.words();
    kernel.clear();
    ASSERT_TRUE(kernel.run(Compile::always, 30, {2}, block).ok());
    EXPECT_EQ(kernel.words(), expected);
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(kernel.code().compiled[i].load()) << i;
}

// The code's memory may go at any time.
TEST_F(CompilePolicy, AProgramMayGoWhileItIsCompiled) {
  for (int i = 0; i < 10; ++i) {
    const OneKernel kernel(sum_kernel(4000));
    const Code& code = kernel.code();
    compile::request(code, BlockRows::line);
    compile::request(code, BlockRows::halves);
    std::this_thread::sleep_for(i * 1ms);
    const auto begin = std::chrono::steady_clock::now();
    std::unique_ptr<Program> gone = std::move(const_cast<OneKernel&>(kernel).program);
    gone.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  }
}

TEST_F(CompilePolicy, TheProcessMayEndWhileItCompiles) {
  EXPECT_EXIT(
      {
        static const OneKernel& kernel = *new OneKernel(sum_kernel(4000));
        compile::request(kernel.code(), BlockRows::line);
        std::this_thread::sleep_for(2ms);
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

// The child has no helper thread, and may not write where its parent's code is.
TEST_F(CompilePolicy, AChildAfterForkCompilesNothing) {
  OneKernel kernel(sum_kernel(4000));
  compile::request(kernel.code(), BlockRows::line);
  OneKernel other(sum_kernel());
  ASSERT_EQ(compile::compiled(other.code(), BlockRows::line).why_not, "");
  const pid_t child = fork();
  if (child == 0) {
    compile::request(other.code(), BlockRows::any);
    const bool none = !compile::compiled(other.code(), BlockRows::halves).why_not.empty();
    kernel.program.reset();
    other.program.reset();
    _exit(none ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

class NoRoom : public TestRuntime {
 public:
  int device_count() override {
    if (++asked == 5) throw std::runtime_error("no room");
    return 1;
  }
  int asked = 0;
};

// A handler throws, such as for lack of memory, which ends the launch for the one who runs it.
TEST_F(CompilePolicy, ExceptionsPassThroughHostCode) {
  OneKernel kernel(R"(
.extern .func (.param .b32 r) __cudaCDP2GetDeviceCount(.param .b64 p);
.visible .entry k(.param .u64 table, .param .u32 rounds)
{
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %rd1, [table]; ld.param.u32 %r4, [rounds]; mov.u32 %r3, 0;
LOOP:
  { .param .b64 p; .param .b32 q;
  st.param.b64 [p], %rd1;
  call.uni (q), __cudaCDP2GetDeviceCount, (p);
  ld.param.b32 %r1, [q]; }
  add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r4; @%p bra LOOP;
  ret;
}
)");
  NoRoom runtime;
  kernel.runtime = &runtime;
  ASSERT_EQ(compile::compiled(kernel.code(), BlockRows::line, true).why_not, "");
  for (const Compile compile : {Compile::never, Compile::always}) {
    runtime.asked = 0;
    EXPECT_THROW(kernel.run(compile, 8, {1}, {32}), std::runtime_error);
    EXPECT_EQ(runtime.asked, 5);
    EXPECT_TRUE(kernel.run(compile, 8, {1}, {32}).ok());
  }
}

}  // namespace
}  // namespace inflight::machine
