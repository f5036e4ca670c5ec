// A function is described once and decoded only in the forms that run.
#include "gpu/machine/decode/prepared.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "gpu/check/listener.hpp"
#include "gpu/machine/launch/launch.hpp"
#include "gpu/machine/launch/occupancy.hpp"
#include "gpu/ptx/parse.hpp"

namespace inflight::machine {
namespace {

class CountsListener : public check::Listener {
 public:
  check::Topic topics() const override { return check::Topic::counts; }
};

// Links without PtxRunner, whose audit decodes all functions.
class PreparedFunctions : public testing::Test {
 protected:
  void SetUp() override {
    auto module = ptx::parse(std::make_shared<const std::string>(R"(
.version 8.7
.target sm_90
.address_size 64
.func f() { .reg .b32 %r; mov.u32 %r, %tid.x; ret; }
.visible .entry k() { call f; ret; }
)"),
                             "m");
    ASSERT_TRUE(module) << module.error().message;
    auto linked =
        Program::link({std::make_shared<const ptx::Module>(std::move(*module))}, memory, 0);
    ASSERT_TRUE(linked) << linked.error().message;
    program = std::move(*linked);
    launch.kernel = program->kernel("k");
    launch.block = {32, 1, 1};
    launch.grid = {200, 1, 1};
  }
  std::uint64_t decoded(CodeForm form) {
    const auto code =
        prepared(*program).code({launch.kernel->module, launch.kernel->function}, form);
    return code ? (*code)->id : 0;
  }

  Memory memory{1, 64 << 20};
  std::unique_ptr<Program> program;
  Launch launch;
  Limits limits;
};

TEST_F(PreparedFunctions, AreDecodedOnlyInTheFormThatRuns) {
  CountsListener listener;
  Options options;
  options.workers = 1;
  options.listener = &listener;
  EXPECT_TRUE(unsupported(launch, &listener).instructions.empty());
  EXPECT_GT(registers(*launch.kernel), 0u);
  EXPECT_EQ(register_need(*launch.kernel, 1024, limits).live, 0u);
  EXPECT_TRUE(run(launch, limits, options, [](std::string_view) {}).ok());
  const std::uint64_t ran = decoded({.counted = true});
  EXPECT_EQ(decoded({}), ran + 2) << "decoded only now, after the function that the kernel calls";
}

TEST_F(PreparedFunctions, AreDescribedOnce) {
  const Program::FunctionRef ref{launch.kernel->module, launch.kernel->function};
  const Function& first = prepared(*program).function(ref);
  const auto code = prepared(*program).code(ref, {.counted = true});
  ASSERT_TRUE(code);
  EXPECT_EQ((*code)->description, &first);
  EXPECT_EQ(&prepared(*program).function(ref), &first);
}

}  // namespace
}  // namespace inflight::machine
