// A listener gets the events of its topics, and no others, whichever topics it lacks.
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "gpu/check/listener.hpp"
#include "tests/unit/machine/event_runner.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using check::Topic;

// Counts events by struct.
class Counted : public check::Listener {
 public:
  explicit Counted(Topic topics) : topics_(topics) {}
  Topic topics() const override {
    ++asked;
    return topics_;
  }
#define X(Event, hook, topic)                     \
  void hook(const check::Event& event) override { \
    const std::lock_guard lock(mutex_);           \
    ++told[#Event];                               \
    see(event);                                   \
  }
  INFLIGHT_CHECK_EVENTS(X)
#undef X
  std::map<std::string, std::uint64_t> told;
  mutable std::atomic<unsigned> asked{0};

 private:
  // Loaded data is undefined, so that its uses are told.
  void see(const check::Access& access) {
    if (!access.undefined || access.kind != check::Access::Kind::load) return;
    access.undefined->lanes = access.who.mask;
    access.undefined->bytes.fill(0xf);
    access.undefined->origin = 1;
  }
  template <class Event>
  void see(const Event&) {}

  const Topic topics_;
  std::mutex mutex_;
};

// Instructions of every topic, for a block of one warpgroup.
const std::string all_kinds = R"(.version 8.7
.target sm_90a
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
  mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r4, bar;
  shr.u32 %r5, %r2, 4; cvt.u64.u32 %rd4, %r5; or.b64 %rd4, %rd4, 0x0000000800080000;
  setp.lt.u32 %p1, %r1, 16; @%p1 bra HERE; add.u32 %r6, %r1, 1;
HERE:
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.commit_group;
  cp.async.wait_group 0;
  cp.async.bulk.prefetch.L2.global [%rd1], 16;
  fence.acq_rel.gpu;
  setp.ne.u32 %p2, %r1, 0;
  @!%p2 mbarrier.init.shared.b64 [%r4], 128;
  bar.sync 0;
  mbarrier.arrive.shared.b64 _, [%r4];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0;
  @!%p3 bra WAIT;
  vote.sync.all.pred %p3, %p2, -1;
  mul.wide.u32 %rd8, %r1, 4; add.u64 %rd8, %rd8, %rd1;
  ld.global.u32 %r7, [%rd8+1024]; red.global.add.u32 [%rd1], %r7;
  { .param .b64 bytes; .param .b64 address; st.param.b64 [bytes], 16;
    call (address), malloc, (bytes); ld.param.b64 %rd5, [address]; }
  @%p2 bra LAUNCHED;
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
LAUNCHED:
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; setp.eq.u32 %p1, %r1, %r1;
  bar.sync 0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd4, %rd4, %p1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  add.f32 %f4, %f0, %f0;
  wgmma.wait_group.sync.aligned 0;
  ret;
}
)";
const std::string bad_store = kernel_k("mov.b64 %rd5, 8; st.global.u32 [%rd5], %r1;");
const std::string hang = kernel_k("bar.sync 1, 256;");

std::set<std::string> structs_of(Topic topics) {
  std::set<std::string> names;
#define X(Event, hook, topic) \
  if (check::has(topics, Topic::topic)) names.insert(#Event);
  INFLIGHT_CHECK_EVENTS(X)
#undef X
  return names;
}

// Runs the kernel with `listener`, which is asked for its topics once, whatever it launches.
void run(Counted& listener, const std::string& text, bool header) {
  PtxRunner runner({text}, header);
  runner.options.listener = &listener;
  const unsigned before = listener.asked;
  auto* const out = runner.make<std::uint32_t>(1024);
  runner.run("k", {1, 1, 1}, {128, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_EQ(listener.asked - before, 1u);
}

void run_all(Counted& listener) {
  run(listener, all_kinds, false);
  run(listener, bad_store, true);
  run(listener, hang, true);
}

// Every event of a topic is told as often to a listener of that topic alone.
TEST(Topics, EachAloneIsToldAllOfItsOwnEventsAndNoOthers) {
  Counted everything(Topic::all);
  run_all(everything);
  for (const char* const name :
       {"StreamEdge", "HostAccess", "HostTouch", "ProcessEnd", "CallFailed"})
    EXPECT_EQ(everything.told.erase(name), 0u) << name << ": only the host's calls have it";
  for (std::uint32_t i = 0; i < check::topic_count; ++i) {
    const auto topic = static_cast<Topic>(1u << i);
    Counted alone(topic);
    run_all(alone);
    std::map<std::string, std::uint64_t> expected;
    for (const std::string& name : structs_of(topic | Topic::kernels))
      if (everything.told.contains(name)) expected[name] = everything.told[name];
    // Only what an access shows as undefined has uses.
    if (topic == Topic::undefined) expected.erase("UndefinedUse");
    // Without `parameters` and `each_read`, fewer accesses are told.
    if (topic == Topic::accesses) {
      EXPECT_LT(alone.told["Access"], expected["Access"]);
      EXPECT_NE(alone.told["Access"], 0u);
      expected["Access"] = alone.told["Access"];
    }
    EXPECT_EQ(alone.told, expected) << "topic " << i;
  }
}

class TopicsOfMbarriers : public EventRunner {};

// Nothing uses the answers, so the threads cannot know them, whatever else a listener wants.
TEST_F(TopicsOfMbarriers, AnUnusedAnswerIsToldAsFalse) {
  for (const Topic others : {Topic::none, Topic::waits, Topic::fences, Topic::copies}) {
    const auto lines = events(Topic::mbarriers | others, {.block = {1, 1, 1}}, R"(
  .reg .b64 %t;
  mov.u32 %r1, bar;
  mbarrier.init.shared.b64 [%r1], 1;
  mbarrier.arrive.shared.b64 %t, [%r1];
  mbarrier.test_wait.shared.b64 %p1, [%r1], %t;
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;)",
                              ".shared .align 8 .b64 bar;");
    unsigned tests = 0;
    for (const std::string& line : lines) {
      if (line.find("_wait") == std::string::npos) continue;
      ++tests;
      EXPECT_EQ(line.find("done"), std::string::npos) << line;
    }
    EXPECT_EQ(tests, 2u) << fmt::format("{}", fmt::join(lines, "\n"));
  }
}

}  // namespace
}  // namespace inflight::machine
