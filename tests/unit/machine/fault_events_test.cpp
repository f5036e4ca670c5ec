// Events of a fault: its kind, its threads, and the memory involved.
#include <fmt/format.h>

#include "gpu/check/listener.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

class FaultLog : public check::Listener {
 public:
  check::Topic topics() const override { return check::Topic::faults; }
  void kernel_begin(const check::KernelBegin& event) override { kernel_ = event.kernel; }
  void faulted(const check::Fault& f) override {
    static constexpr std::string_view kinds[] = {"outside", "misaligned", "address space", "peer",
                                                 "barrier", "tensor map", "unsupported",   "other"};
    static constexpr std::string_view spaces[] = {"global", "shared", "local", "constant", "param"};
    line = fmt::format("{} {:x} {}", kernel_->describe(*kernel_, f.who.instruction).text,
                       f.who.mask, kinds[static_cast<int>(f.kind)]);
    if (f.access)
      line += fmt::format(" {} {} {}+{} of {}, multiple of {}", f.writes ? "writes" : "reads",
                          spaces[static_cast<int>(f.space)], f.address - f.nearest.address, f.bytes,
                          f.nearest.bytes, f.alignment);
    if (f.nearest.step == check::Allocation::Step::released) line += ", released";
  }
  std::string line;

 private:
  const check::Kernel* kernel_ = nullptr;
};

class FaultEvents : public KernelRunner {
 protected:
  // %d0: 4096 bytes of global memory; %d1: 256 freed bytes; %r0: the thread.
  std::string fault(const std::string& body, const std::string& declarations = {},
                    unsigned threads = 4) {
    FaultLog log;
    options.listener = &log;
    options.workers = 1;
    const std::uint64_t out = upload(std::vector<std::uint32_t>(1024));
    const auto gone = memory.allocate(0, 256, AllocationKind::device);
    memory.release(*gone);
    const Outcome o = run(link(declarations + entry(2, R"(
  .reg .b32 %r<20>; .reg .pred %p<6>; .reg .b64 %d<12>;
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d1, [p1];
  mov.u32 %r0, %tid.x;
)" + body + "\n  ret;")),
                          {.block = {threads, 1, 1}}, {out, *gone});
    EXPECT_FALSE(o.ok());
    return log.line;
  }
};

TEST_F(FaultEvents, NameTheMemoryThatIsNearest) {
  EXPECT_EQ(fault("mul.wide.u32 %d2, %r0, 4; add.u64 %d2, %d0, %d2; st.global.u32 [%d2+4088], 1;"),
            "st.global.u32 c outside writes global 4096+4 of 4096, multiple of 4");
  EXPECT_EQ(fault("ld.v2.u32 {%r1, %r2}, [%d1+8];"),
            "ld.v2.u32 f outside reads global 8+8 of 256, multiple of 8, released");
}

TEST_F(FaultEvents, NameTheLastPartOfAMatrix) {
  EXPECT_EQ(fault("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5, "
                  "%r6, %r7, %r8}, [%d0+3648], 16;",
                  {}, 32),
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 80000000 outside reads global "
            "4144+16 of 4096, multiple of 16");
}

TEST_F(FaultEvents, CountOffsetsInTheSpaceOfAGenericAddress) {
  EXPECT_EQ(fault("cvta.shared.u64 %d2, tile; ld.u32 %r1, [%d2+16];", ".shared .b8 tile[16];"),
            "ld.u32 f outside reads shared 16+4 of 16, multiple of 4");
}

TEST_F(FaultEvents, SayWhatAnAddressMustBeAMultipleOf) {
  EXPECT_EQ(fault("ld.global.u64 %d2, [%d0+4];"),
            "ld.global.u64 f misaligned reads global 4+8 of 4096, multiple of 8");
  EXPECT_EQ(fault("mov.u32 %r1, tile; cp.async.bulk.global.shared::cta.bulk_group [%d0+8], [%r1], "
                  "16;",
                  ".shared .align 16 .b8 tile[16];"),
            "cp.async.bulk.global.shared::cta.bulk_group 1 misaligned writes global 8+0 of 4096, "
            "multiple of 16");
}

TEST_F(FaultEvents, TellWrongOperandsFromTraps) {
  EXPECT_EQ(fault("setp.eq.u32 %p0, %r0, 0; selp.u32 %r1, 0xe, 0xf, %p0; "
                  "vote.sync.any.pred %p1, %p0, %r1;"),
            "vote.sync.any.pred 1 barrier");
  EXPECT_EQ(fault("mov.u32 %r1, 17; bar.sync %r1;"), "bar.sync f barrier");
  EXPECT_EQ(fault("trap;"), "trap f other");
}

}  // namespace
}  // namespace inflight::machine
