// Some kernel here emits every event of gpu/check, except those of the host's own calls.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "gpu/check/listener.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using ::testing::IsSupersetOf;

// Counts events by their struct's name.
class Census : public check::Listener {
 public:
#define X(Event, hook, topic) \
  void hook(const check::Event&) override { ++seen[#Event]; }
  INFLIGHT_CHECK_EVENTS(X)
#undef X
  std::map<std::string, std::uint64_t> seen;
};

// Treats data loaded from global memory as undefined.
class CensusOfUndefined : public Census {
 public:
  void accessed(const check::Access& access) override {
    Census::accessed(access);
    if (!access.undefined || access.kind != check::Access::Kind::load) return;
    access.undefined->lanes = access.who.mask;
    access.undefined->bytes.fill(0xf);
    access.undefined->origin = 1;
  }
};

std::set<std::string> all_events() {
  std::set<std::string> names;
#define X(Event, hook, topic) names.insert(#Event);
  INFLIGHT_CHECK_EVENTS(X)
#undef X
  return names;
}

// Emitted by gpu/cuda. tests/unit/cuda/every_value_test.cpp shows the first two, and the findings
// of tests/kernels/check/host_without_wait.cu and leak.cu and of tests/cli/check/failures.sh the
// others.
const std::set<std::string> of_the_host{"StreamEdge", "HostAccess", "HostTouch",
                                        "ProcessEnd", "CallFailed", "DeviceTouch"};

// `body` for two blocks of one warpgroup each: %rd1 is global memory, %r1 the thread, %rd4 a
// descriptor of shared memory.
std::string kernel(const std::string& body, const std::string& target) {
  return ".version 8.7\n.target " + target + R"(
.address_size 64
.extern .func (.param .b64 address) malloc (.param .b64 bytes);
.extern .func (.param .b64 buffer) __cudaCDP2GetParameterBufferV2 (
  .param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 code) __cudaCDP2LaunchDeviceV2 (.param .b64 buffer, .param .b64 stream);
.visible .entry child() { ret; }
.visible .entry k(.param .u64 out) {
  .shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar;
  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<10>; .reg .pred %p<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile; mov.u32 %r4, bar;
  shr.u32 %r5, %r2, 4; cvt.u64.u32 %rd4, %r5; or.b64 %rd4, %rd4, 0x0000000800080000;
)" + body +
         "\n  ret;\n}\n";
}

constexpr const char* branches = R"(
  setp.lt.u32 %p1, %r1, 16; @%p1 bra HERE; add.u32 %r6, %r1, 1;
HERE:
)";
constexpr const char* undefined = "ld.global.u32 %r7, [%rd1]; red.global.add.u32 [%rd1], %r7;\n";
constexpr const char* copies = R"(
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.commit_group;
  cp.async.wait_group 0;
  cp.async.bulk.prefetch.L2.global [%rd1], 16;
)";
constexpr const char* synchronisation = R"(
  fence.acq_rel.gpu;
  setp.ne.u32 %p2, %r1, 0;
  @!%p2 mbarrier.init.shared.b64 [%r4], 1;
  bar.sync 0;
  vote.sync.all.pred %p3, %p2, -1;
)";
constexpr const char* heap = R"(
  { .param .b64 bytes; .param .b64 address; st.param.b64 [bytes], 16;
    call (address), malloc, (bytes); ld.param.b64 %rd5, [address]; }
)";
constexpr const char* launch = R"(
  { .param .b64 kernel; .param .align 4 .b8 grid[12]; .param .align 4 .b8 block[12]; .param .b32 shared;
    .param .b64 buffer; .param .b64 taken; .param .b64 stream; .param .b32 code;
    mov.u64 %rd6, child; st.param.b64 [kernel], %rd6;
    st.param.b32 [grid], 1; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;
    st.param.b32 [block], 1; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0;
    call (buffer), __cudaCDP2GetParameterBufferV2, (kernel, grid, block, shared);
    ld.param.b64 %rd7, [buffer];
    st.param.b64 [taken], %rd7; st.param.b64 [stream], 0;
    call (code), __cudaCDP2LaunchDeviceV2, (taken, stream); }
)";
constexpr const char* multiply = R"(
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; setp.eq.u32 %p1, %r1, %r1;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd4, %rd4, %p1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  add.f32 %f4, %f0, %f0;
  wgmma.wait_group.sync.aligned 0;
)";
// For sm_100a, by one warp a block.
constexpr const char* tensor_memory = R"(
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32;
  ld.shared.u32 %r8, [%r2];
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8], {%r1};
  tcgen05.wait::st.sync.aligned;
  or.b64 %rd4, %rd4, 0x0000400000000000; setp.eq.u32 %p1, %r1, 0;
  @%p1 tcgen05.cp.cta_group::1.128x256b [%r8], %rd4;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r8, 32;
)";

class EveryEvent : public testing::Test {
 protected:
  FaultKind run(const std::string& body, const std::string& target = "sm_90a",
                std::uint32_t threads = 128) {
    PtxRunner runner({kernel(body, target)}, false);
    runner.options.listener = &census;
    auto* const out = runner.make<std::uint32_t>(1024);
    return runner.run("k", {2, 1, 1}, {threads, 1, 1}, {reinterpret_cast<std::uint64_t>(out)}).kind;
  }
  CensusOfUndefined census;
};

TEST_F(EveryEvent, IsEmittedByARealInstruction) {
  EXPECT_EQ(
      run(std::string(branches) + undefined + copies + synchronisation + heap + launch + multiply),
      FaultKind::none);
  EXPECT_EQ(run(tensor_memory, "sm_100a", 32), FaultKind::none);
  EXPECT_EQ(run("mov.b64 %rd5, 8; st.global.u32 [%rd5], %r1;"), FaultKind::illegal_address);
  EXPECT_EQ(run("bar.sync 1, 256;"), FaultKind::deadlock);
  std::set<std::string> missing;
  for (const std::string& name : all_events())
    if (!of_the_host.contains(name) && census.seen[name] == 0) missing.insert(name);
  EXPECT_THAT(missing, testing::IsEmpty());
}

TEST_F(EveryEvent, OfTheHostIsNamedHere) {
  EXPECT_THAT(all_events(), IsSupersetOf(of_the_host));
  EXPECT_EQ(run(branches), FaultKind::none);
  for (const std::string& name : of_the_host) EXPECT_EQ(census.seen[name], 0u) << name;
}

// The events common to all launches.
TEST_F(EveryEvent, BlocksBeginAndEndOnceAndThreadsExitOnce) {
  EXPECT_EQ(run(branches), FaultKind::none);
  EXPECT_EQ(census.seen["KernelBegin"], 1u);
  EXPECT_EQ(census.seen["KernelEnd"], 1u);
  EXPECT_EQ(census.seen["BlockBegin"], 2u);
  EXPECT_EQ(census.seen["BlockEnd"], 2u);
  EXPECT_EQ(census.seen["ThreadExit"], 8u) << "one a warp";
  EXPECT_EQ(census.seen["Divergence"], 2u) << "the first warp of each block";
  EXPECT_EQ(census.seen["Reconvergence"], 2u);
}

}  // namespace
}  // namespace inflight::machine
