// Launches by kernels: what a listener hears of them, and what becomes of their argument buffers.
#include <fmt/format.h>

#include <chrono>

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

// What kernels call besides, by one thread. `calls` sets %r9, which is returned.
struct Called {
  Outcome outcome;
  std::uint32_t code = 0;
};
Called call(const std::string& calls,
            std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  PtxRunner runner({kernel_k(calls + "st.global.u32 [%rd1], %r9;", R"(
.extern .func (.param .b32 code) __cudaCDP2Memset3DAsync(
  .param .align 8 .b8 to[32], .param .b32 value, .param .align 8 .b8 extent[24],
  .param .b64 stream);
.extern .func (.param .b32 code) __cudaCDP2StreamCreateWithFlags(
  .param .b64 stream, .param .b32 flags);
.extern .func (.param .b64 buffer) __cudaCDP2GetParameterBuffer(
  .param .b64 alignment, .param .b64 bytes);
.extern .func (.param .b32 code) __cudaCDP2GetLastError();
.extern .func (.param .b32 code) __cudaCDP2LaunchDevice(
  .param .b64 kernel, .param .b64 buffer, .param .align 4 .b8 grid[12],
  .param .align 4 .b8 block[12], .param .b32 shared, .param .b64 stream);
.visible .entry again() {
  .reg .b64 %rd<2>;
  { .param .b64 kernel; .param .b64 buffer; .param .align 4 .b8 grid[12];
    .param .align 4 .b8 block[12]; .param .b32 shared; .param .b64 stream; .param .b32 code;
    mov.u64 %rd1, again;
    st.param.b64 [kernel], %rd1; st.param.b64 [buffer], 0;
    st.param.b32 [grid], 1; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;
    st.param.b32 [block], 1; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0; st.param.b64 [stream], 3;
    call (code), __cudaCDP2LaunchDevice, (kernel, buffer, grid, block, shared, stream); }
  ret;
})")});
  runner.options.timeout = timeout;
  auto* const out = runner.make<std::uint32_t>(1024);
  Called called{runner.run("k", {}, {}, {reinterpret_cast<std::uint64_t>(out)})};
  called.code = out[0];
  return called;
}

struct Filled {
  std::uint64_t pitch, height;        // of the memory
  std::uint64_t width, rows, slices;  // that are filled
};
std::string fill(const Filled& f) {
  return fmt::format(R"(
  {{ .param .align 8 .b8 to[32]; .param .b32 value; .param .align 8 .b8 extent[24];
    .param .b64 stream; .param .b32 code;
    st.param.b64 [to], %rd1; st.param.b64 [to+8], {}; st.param.b64 [to+16], 1;
    st.param.b64 [to+24], {};
    st.param.b32 [value], 0;
    st.param.b64 [extent], {}; st.param.b64 [extent+8], {}; st.param.b64 [extent+16], {};
    st.param.b64 [stream], 0;
    call (code), __cudaCDP2Memset3DAsync, (to, value, extent, stream);
    ld.param.b32 %r9, [code]; }})",
                     f.pitch, f.height, f.width, f.rows, f.slices);
}

constexpr std::uint64_t very_many = std::uint64_t{1} << 62;

TEST(DeviceFills, OfNoRowsTakeNoTimeForTheirSlices) {
  const Called called = call(fill({64, 1, 1, 0, very_many}));
  EXPECT_TRUE(called.outcome.ok()) << called.outcome.report;
  EXPECT_EQ(called.code, 0u);
}

TEST(DeviceFills, RefuseSlicesThatLieInEachOther) {
  const Called called = call(fill({1, 0, 1, 1, very_many}));
  EXPECT_TRUE(called.outcome.ok()) << called.outcome.report;
  EXPECT_EQ(called.code, 1u);
}

TEST(DeviceStreams, HaveNoRoomForAnyNumberOfThem) {
  const Called called = call(R"(
  mov.u32 %r4, 0;
MORE:
  { .param .b64 stream; .param .b32 flags; .param .b32 code;
    add.u64 %rd7, %rd1, 64;
    st.param.b64 [stream], %rd7; st.param.b32 [flags], 1;
    call (code), __cudaCDP2StreamCreateWithFlags, (stream, flags);
    ld.param.b32 %r9, [code]; }
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 4000000;
  setp.eq.and.u32 %p1, %r9, 0, %p1;
  @%p1 bra MORE;)");
  EXPECT_TRUE(called.outcome.ok()) << called.outcome.report;
  EXPECT_EQ(called.code, 2u);
}

TEST(DeviceBuffers, HaveNoRoomForAnyNumberOfThem) {
  const Called called = call(R"(
  mov.u32 %r4, 0;
MORE:
  { .param .b64 alignment; .param .b64 bytes; .param .b64 buffer;
    st.param.b64 [alignment], 64; st.param.b64 [bytes], 8;
    call (buffer), __cudaCDP2GetParameterBuffer, (alignment, bytes);
    ld.param.b64 %rd7, [buffer]; }
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 1000000;
  setp.ne.and.u64 %p1, %rd7, 0, %p1;
  @%p1 bra MORE;
  { .param .b32 code; call (code), __cudaCDP2GetLastError; ld.param.b32 %r9, [code]; })");
  EXPECT_TRUE(called.outcome.ok()) << called.outcome.report;
  EXPECT_EQ(called.code, 2u);
}

TEST(DeviceLaunchesWithTimeout, EndAChainOfShortKernels) {
  const Called called = call(R"(
  { .param .b64 kernel; .param .b64 buffer; .param .align 4 .b8 grid[12];
    .param .align 4 .b8 block[12]; .param .b32 shared; .param .b64 stream; .param .b32 code;
    mov.u64 %rd7, again;
    st.param.b64 [kernel], %rd7; st.param.b64 [buffer], 0;
    st.param.b32 [grid], 1; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;
    st.param.b32 [block], 1; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0; st.param.b64 [stream], 3;
    call (code), __cudaCDP2LaunchDevice, (kernel, buffer, grid, block, shared, stream);
    ld.param.b32 %r9, [code]; })",
                             std::chrono::milliseconds(300));
  EXPECT_EQ(called.outcome.kind, FaultKind::timeout) << called.outcome.report;
}

}  // namespace
}  // namespace inflight::machine
