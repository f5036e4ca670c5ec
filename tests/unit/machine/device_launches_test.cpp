// Launches by kernels: what a listener hears of them, and what becomes of their argument buffers.
#include "gpu/check/listener.hpp"
#include "gpu/machine/children/children.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using Lines = std::vector<std::string>;

class Heard : public check::Listener {
 public:
  check::Topic topics() const override { return check::Topic::allocations | check::Topic::kernels; }
  void allocation(const check::Allocation& event) override {
    const bool made = event.step == check::Allocation::Step::made;
    lines.push_back((made ? "made " : "released ") + std::to_string(event.bytes));
  }
  void child_launched(const check::ChildLaunched&) override { lines.push_back("launched"); }
  Lines lines;
};

// A launch by the older interface, where the thread gets a buffer of any size first.
struct Call {
  std::string kernel = "store";
  std::string buffer = buffer_of(100);  // sets %rd7
  std::uint64_t stream = Children::null_stream;

  static std::string buffer_of(unsigned bytes) {
    return R"(
  { .param .b64 alignment; .param .b64 bytes; .param .b64 buffer;
    st.param.b64 [alignment], 64; st.param.b64 [bytes], )" +
           std::to_string(bytes) + R"(;
    call (buffer), __cudaCDP2GetParameterBuffer, (alignment, bytes);
    ld.param.b64 %rd7, [buffer]; }
  add.u64 %rd8, %rd1, 4;
  st.u64 [%rd7], %rd8;)";
  }
};

class DeviceLaunches : public testing::Test {
 protected:
  // Returns the code of the launch.
  std::uint32_t launch(const Call& call) {
    const std::string declarations = R"(
.extern .func (.param .b64 buffer) __cudaCDP2GetParameterBuffer(
  .param .b64 alignment, .param .b64 bytes);
.extern .func (.param .b32 code) __cudaCDP2LaunchDevice(
  .param .b64 kernel, .param .b64 buffer, .param .align 4 .b8 grid[12],
  .param .align 4 .b8 block[12], .param .b32 shared, .param .b64 stream);
.visible .entry nothing() { ret; }
.visible .entry store(.param .u64 to) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, 7;
  st.global.u32 [%rd1], %r1;
  ret;
})";
    PtxRunner runner({kernel_k(call.buffer + R"(
  { .param .b64 kernel; .param .b64 buffer; .param .align 4 .b8 grid[12];
    .param .align 4 .b8 block[12]; .param .b32 shared; .param .b64 stream; .param .b32 code;
    mov.u64 %rd6, )" + call.kernel +
                                   R"(;
    st.param.b64 [kernel], %rd6; st.param.b64 [buffer], %rd7;
    st.param.b32 [grid], 1; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;
    st.param.b32 [block], 1; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0; st.param.b64 [stream], )" +
                                   std::to_string(call.stream) + R"(;
    call (code), __cudaCDP2LaunchDevice, (kernel, buffer, grid, block, shared, stream);
    ld.param.b32 %r9, [code]; }
  st.global.u32 [%rd1], %r9;)",
                               declarations)});
    runner.options.listener = &heard;
    auto* const out = runner.make<std::uint32_t>(2);
    const Outcome outcome = runner.run("k", {}, {}, {reinterpret_cast<std::uint64_t>(out)});
    EXPECT_TRUE(outcome.ok()) << outcome.report;
    stored = out[1];
    heap_used = runner.memory.heap_used(0);
    return out[0];
  }

  Heard heard;
  std::uint32_t stored = 0;
  std::uint64_t heap_used = 0;
};

TEST_F(DeviceLaunches, ABufferIsReleasedWithTheSizeThatItWasMadeWith) {
  EXPECT_EQ(launch({}), 0u);
  EXPECT_EQ(heard.lines, (Lines{"made 100", "released 100", "launched"}));
  EXPECT_EQ(stored, 7u);
  EXPECT_EQ(heap_used, 0u);
}

TEST_F(DeviceLaunches, ABufferThatTheKernelDoesNotReadIsReleased) {
  EXPECT_EQ(launch({.kernel = "nothing"}), 0u);
  EXPECT_EQ(heard.lines, (Lines{"made 100", "released 100", "launched"}));
  EXPECT_EQ(heap_used, 0u);
}

TEST_F(DeviceLaunches, OnlyAKernelWithoutParametersNeedsNoBuffer) {
  EXPECT_EQ(launch({.kernel = "nothing", .buffer = "mov.u64 %rd7, 0;"}), 0u);
  EXPECT_EQ(heard.lines, Lines{"launched"});
  heard.lines.clear();
  for (const char* buffer : {"mov.u64 %rd7, 0;", "mov.u64 %rd7, %rd1;"})
    EXPECT_EQ(launch({.buffer = buffer}), 1u) << buffer;
  EXPECT_EQ(heard.lines, Lines{});
}

TEST_F(DeviceLaunches, ALaunchIntoAStreamThatDoesNotExistIsNotReported) {
  EXPECT_EQ(launch({.stream = 0x9999}), 400u);
  EXPECT_EQ(heard.lines, (Lines{"made 100", "released 100"}));
  EXPECT_EQ(stored, 0u);
}

}  // namespace
}  // namespace inflight::machine
