// Events of wgmma: what a multiplication reads, its groups, and accesses to its registers.
#include <map>

#include "tests/unit/machine/event_log.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using check::Topic;
using Lines = std::vector<std::string>;

class Multiplies : public EventLog {
 public:
  Multiplies() : EventLog(Topic::multiplies) {}
  void kernel_begin(const check::KernelBegin& event) override {
    EventLog::kernel_begin(event);
    kernel_ = event.kernel;
  }
  void multiply_issued(const check::MultiplyIssued& e) override {
    std::string what = fmt::format("issues #{}", e.id);
    if (!e.unfenced.empty())
      what += fmt::format(" unfenced {} by {}", e.unfenced, opcode(e.unfenced_by));
    // Bytes of shared memory by their first, joined.
    std::map<std::uint32_t, std::uint32_t> runs;
    e.for_each_run([&](const check::MultiplyRun& run) { runs[run.address] = run.bytes; });
    std::uint32_t end = 0;
    for (auto [address, bytes] : runs) {
      if (address != end) what += fmt::format("{} {}-", end ? fmt::format("{}", end) : "", address);
      end = address + bytes;
    }
    if (end) what += fmt::format("{}", end);
    add(e.who, what);
  }
  void multiply_committed(const check::MultiplyCommitted& e) override { add(e.who, "commits"); }
  void multiply_waited(const check::MultiplyWaited& e) override {
    add(e.who, fmt::format("waited all but {}, complete before #{}", e.allowed, e.complete));
  }
  void register_touched(const check::RegisterTouched& e) override {
    add(e.who, fmt::format("{} {}, {} of #{} issued at {}{}", e.written ? "writes" : "reads",
                           e.name, e.accumulator ? "an accumulator" : "a fragment", e.multiply,
                           opcode(e.issued_at), e.by_multiply ? ", by a multiplication" : ""));
  }

 private:
  std::string opcode(std::uint32_t instruction) const {
    if (instruction == check::nothing) return "nothing";
    return std::string(kernel_->describe(*kernel_, instruction).text);
  }
  const check::Kernel* kernel_ = nullptr;
};

constexpr const char* shared = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16";

class MultiplyEvents : public KernelRunner {
 protected:
  // The events of one warp of a warpgroup, without the place. Matrix A, 64 x 16, is at 1024, in
  // columns of two times 8 values. Matrix B, 16 x 8, is at 3328. %d2 and %d3 describe
  // them. %f0 to %f7 are accumulators, %r10 to %r13 fragments of A.
  Lines events(unsigned warp, const std::string& body) {
    Multiplies log;
    options.listener = &log;
    options.workers = 1;
    const Outcome o = run(link(".shared .align 1024 .b8 tile[4096];\n" + entry(0, R"(
  .reg .b32 %r<20>; .reg .pred %p<4>; .reg .b64 %d<6>; .reg .f32 %f<12>;
  mov.u32 %r1, tile; shr.u32 %r1, %r1, 4; cvt.u64.u32 %d2, %r1;
  or.b64 %d2, %d2, 0x0000001000080000; add.u64 %d3, %d2, 144;
  setp.eq.u32 %p0, %r1, %r1;
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  mov.f32 %f4, %f0; mov.f32 %f5, %f0; mov.f32 %f6, %f0; mov.f32 %f7, %f0;
  mov.u32 %r10, %r1; mov.u32 %r11, %r1; mov.u32 %r12, %r1; mov.u32 %r13, %r1;
)" + body + "\n  ret;")),
                          {.block = {128, 1, 1}}, {});
    EXPECT_TRUE(o.ok()) << o.report;
    const std::string place = fmt::format(" @0.{}/ffffffff ", warp);
    Lines of_warp;
    for (const std::string& line : log.with(place))
      of_warp.push_back(line.substr(line.find(place) + place.size()));
    return of_warp;
  }
  static std::string from_shared(const std::string& accumulators = "%f0, %f1, %f2, %f3") {
    return std::string(shared) + " {" + accumulators + "}, %d2, %d3, %p0, 1, 1, 0, 0;\n";
  }
  static inline const std::string from_registers =
      std::string(shared) + " {%f4, %f5, %f6, %f7}, {%r10, %r11, %r12, %r13}, %d3, %p0, 1, 1, 0;\n";
  static inline const std::string fence = "wgmma.fence.sync.aligned;\n",
                                  commit = "wgmma.commit_group.sync.aligned;\n",
                                  wait = "wgmma.wait_group.sync.aligned 0;\n";
  static inline const std::string at = std::string(" issued at ") + shared;
};

// A quarter of the rows of A, and all of B.
TEST_F(MultiplyEvents, SayWhichBytesEachWarpReads) {
  const std::string body = fence + from_shared() + from_registers + commit + wait;
  for (unsigned warp = 0; warp < 4; ++warp)
    EXPECT_EQ(
        events(warp, body),
        (Lines{fmt::format("issues #0 {}-{} 3328-3584", 1024 + 512 * warp, 1024 + 512 * (warp + 1)),
               "issues #1 3328-3584", "commits", "waited all but 0, complete before #2"}));
}

TEST_F(MultiplyEvents, WaitsSayWhichMultiplicationsAreComplete) {
  EXPECT_EQ(events(2, fence + from_registers + commit + from_registers + commit + commit +
                          "wgmma.wait_group.sync.aligned 2;\n"
                          "wgmma.wait_group.sync.aligned 1;\n" +
                          wait),
            (Lines{"issues #0 3328-3584", "commits", "issues #1 3328-3584", "commits", "commits",
                   "waited all but 2, complete before #1", "waited all but 1, complete before #2",
                   "waited all but 0, complete before #2"}));
}

TEST_F(MultiplyEvents, NameTheRegisterThatHasNoFence) {
  const std::string multiply = from_registers + commit + wait;
  EXPECT_EQ(events(0, multiply)[0], "issues #0 unfenced %f4 by nothing 3328-3584");
  EXPECT_EQ(events(0, fence + multiply + "add.f32 %f5, %f5, %f5;\n" + multiply)[3],
            "issues #1 unfenced %f5 by add.f32 3328-3584");
  EXPECT_EQ(events(0, fence + multiply + "add.u32 %r12, %r12, 1;\n" + multiply)[3],
            "issues #1 unfenced %r12 by add.u32 3328-3584");
  EXPECT_EQ(events(0, fence + multiply + "add.u32 %r12, %r12, 1;\n" + fence + multiply)[3],
            "issues #1 3328-3584");
}

// Compilers move arithmetic over a fence, but no load.
TEST_F(MultiplyEvents, LoadsCountAfterAFenceToo) {
  const std::string multiply = from_registers + commit + wait;
  EXPECT_EQ(events(0, fence + "ld.shared.f32 %f5, [tile];\n" + multiply)[0],
            "issues #0 unfenced %f5 by ld.shared.f32 3328-3584");
  EXPECT_EQ(events(0, fence + "add.f32 %f5, %f5, %f5;\n" + multiply)[0], "issues #0 3328-3584");
}

TEST_F(MultiplyEvents, NameTheRegistersThatAreUsedWhileInFlight) {
  EXPECT_EQ(events(3, fence + from_registers + commit + R"(
  add.f32 %f8, %f6, 0f3F800000;
  add.f32 %f7, %f0, 0f3F800000;
  add.u32 %r11, %r1, 1;
  add.u32 %r14, %r12, 1;
)" + wait + "add.f32 %f8, %f6, %f7;"),
            (Lines{"issues #0 3328-3584", "commits", "reads %f6, an accumulator of #0" + at,
                   "writes %f7, an accumulator of #0" + at, "writes %r11, a fragment of #0" + at,
                   "waited all but 0, complete before #1"}));
}

// Multiplications of another shape may not share accumulators, nor take them as fragments.
TEST_F(MultiplyEvents, NameTheRegistersThatAnotherMultiplicationUses) {
  const std::string wide =
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, "
      "%f7}, %d2, %d2, %p0, 1, 1, 0, 0;\n";
  const Lines lines = events(1, fence + from_shared() + wide + commit + wait);
  ASSERT_EQ(lines.size(), 5u) << fmt::format("{}", fmt::join(lines, "\n"));
  EXPECT_EQ(lines[1], "writes %f0, an accumulator of #0" + at + ", by a multiplication");
  EXPECT_TRUE(lines[2].starts_with("issues #1 ")) << lines[2];
}

}  // namespace
}  // namespace inflight::machine
