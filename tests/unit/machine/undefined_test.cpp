// Unwritten bits are followed through registers to the decisions that depend on them, and no
// further.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "gpu/check/listener.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using Lines = std::vector<std::string>;

// Treats `bits` of the `bytes` of each load from shared memory by `lanes` as undefined.
class Undefined : public check::Listener {
 public:
  Undefined(check::Mask lanes, std::uint32_t bytes, std::uint8_t bits)
      : lanes_(lanes), bytes_(bytes), bits_(bits) {}
  check::Topic topics() const override {
    using check::Topic;
    return Topic::accesses | Topic::addresses | Topic::undefined;
  }
  void accessed(const check::Access& access) override {
    if (!access.undefined) return;
    check::UndefinedBytes& u = *access.undefined;
    if (access.kind == check::Access::Kind::store) {
      if (u.lanes == 0) return;
      const auto lane = static_cast<unsigned>(std::countr_zero(u.lanes));
      std::string line = fmt::format("stores {:x} of lanes {:x}{}", u.bytes[lane], u.lanes,
                                     u.computed == 0 ? ", copied" : "");
      for (std::uint32_t i = 0; u.partly == u.lanes && i < access.bytes; ++i)
        if (u.bytes[lane] >> i & 1) line += fmt::format(" {:02x}", u.bits[lane][i]);
      lines.push_back(line);
      return;
    }
    if (access.space != check::Space::shared) return;
    u.lanes = lanes_ & access.who.mask;
    u.bytes.fill(bytes_);
    if (bits_ != 0xff) u.partly = u.lanes;
    for (auto& each : u.bits) each.fill(bits_);
    u.origin = 1;
  }
  void undefined_used(const check::UndefinedUse& use) override {
    constexpr const char* names[] = {"branch", "address", "operand"};
    lines.push_back(
        fmt::format("{} of lanes {:x}", names[static_cast<int>(use.how)], use.who.mask));
  }
  Lines lines;

 private:
  const check::Mask lanes_;
  const std::uint32_t bytes_;
  const std::uint8_t bits_;
};

class UndefinedTest : public KernelRunner {
 protected:
  // Runs `body` in one warp. %r0 is the thread, %r1 a word of shared memory (all are 0), of which
  // `bits` of `bytes` count as undefined in `lanes`; %d0 is global memory.
  Lines follow(const std::string& body, check::Mask lanes = ~0u, std::uint32_t bytes = 0xf,
               std::uint8_t bits = 0xff) {
    Undefined listener(lanes, bytes, bits);
    options.listener = &listener;
    options.workers = 1;
    const std::uint64_t out = upload(std::vector<std::uint32_t>(1024));
    const Outcome o = run(link(entry(1, R"(
  .shared .align 16 .b8 tile[4096];
  .reg .b32 %r<20>; .reg .b16 %h<4>; .reg .f32 %f<8>; .reg .pred %p<6>; .reg .b64 %d<12>;
  ld.param.u64 %d0, [p0];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d1, %r0, 16; add.u64 %d0, %d0, %d1;
  mov.u32 %r2, tile; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3;
  st.shared.u32 [%r2], 0;
  ld.shared.u32 %r1, [%r2];
)" + body + "\n  ret;")),
                          Shape{}, {out});
    EXPECT_TRUE(o.ok()) << o.report;
    return listener.lines;
  }
};

TEST_F(UndefinedTest, TellsWhatIsCopiedFromWhatIsComputed) {
  EXPECT_EQ(follow("st.global.u32 [%d0], %r1;"), Lines{"stores f of lanes ffffffff, copied"});
  EXPECT_EQ(follow("mov.b32 %r4, %r1; st.global.u32 [%d0], %r4;", 6),
            Lines{"stores f of lanes 6, copied"});
  EXPECT_EQ(follow("add.u32 %r4, %r1, 1; st.global.u32 [%d0], %r4;", 6),
            Lines{"stores f of lanes 6"});
}

TEST_F(UndefinedTest, FollowsBitsToWhereTheyGo) {
  EXPECT_EQ(follow("shr.u32 %r4, %r1, 16; st.global.u32 [%d0], %r4;", 1, 0xc),
            Lines{"stores 3 of lanes 1, copied"});
  EXPECT_EQ(follow("shr.u32 %r4, %r1, 20; st.global.u32 [%d0], %r4;", 1, 0xc),
            Lines{"stores f of lanes 1"});
  EXPECT_EQ(follow("and.b32 %r4, %r1, 0xffff; st.global.u32 [%d0], %r4;", 1, 0xc), Lines{});
  EXPECT_EQ(follow("xor.b32 %r4, %r1, %r1; st.global.u32 [%d0], %r4;"), Lines{});
  EXPECT_EQ(
      follow("setp.lt.u32 %p0, %r0, 32; selp.u32 %r4, 5, %r1, %p0; st.global.u32 [%d0], %r4;"),
      Lines{});
}

TEST_F(UndefinedTest, TellsBitsThatStayWhereTheyAre) {
  const std::string store = "st.global.u32 [%d0], %r4;";
  EXPECT_EQ(follow("and.b32 %r4, %r1, 0xffffff80; or.b32 %r4, %r4, 5;" + store, 4),
            Lines{"stores f of lanes 4, copied 80 ff ff ff"});
  EXPECT_EQ(follow("mov.u32 %r5, 0x1234; bfi.b32 %r4, %r5, %r1, 4, 20;" + store, 4),
            Lines{"stores 9 of lanes 4, copied 0f ff"});
  EXPECT_EQ(follow("and.b32 %r4, %r1, 1;" + store, 4), Lines{"stores 1 of lanes 4, copied 01"});
  EXPECT_EQ(follow("mov.b32 %r4, %r1;" + store, 4, 0xc, 0x80),
            Lines{"stores c of lanes 4, copied 80 80"});
  // The same bits differ, but they were computed.
  EXPECT_EQ(follow("setp.gt.s32 %p0, %r1, 10; selp.u32 %r4, 1, 0, %p0;" + store, 4),
            Lines{"stores f of lanes 4"});
  EXPECT_EQ(follow("shr.u32 %r4, %r1, 1; and.b32 %r4, %r4, 0x7f;" + store, 4),
            Lines{"stores f of lanes 4"});
}

TEST_F(UndefinedTest, VariesOnlyTheUndefinedBits) {
  const std::string branch = "setp.ne.u32 %p0, %r4, 0; @%p0 bra END; st.global.u32 [%d0], 1; END:";
  EXPECT_EQ(follow("and.b32 %r4, %r1, 0x8f8f8f8f;" + branch, 4, 0xf, 0x70), Lines{});
  EXPECT_EQ(follow("and.b32 %r4, %r1, 0x10000000;" + branch, 4, 0xf, 0x70),
            Lines{"branch of lanes 4"});
  EXPECT_EQ(follow("and.b32 %r4, %r1, 0x80000000;" + branch, 4, 0xf, 0x80),
            Lines{"branch of lanes 4"});
}

TEST_F(UndefinedTest, ReportsWhatDecides) {
  EXPECT_EQ(follow("setp.gt.s32 %p0, %r1, 10; @%p0 bra END; st.global.u32 [%d0], 1; END:", 4),
            Lines{"branch of lanes 4"});
  EXPECT_EQ(follow("setp.eq.s32 %p0, %r1, 7; @%p0 bra END; st.global.u32 [%d0], 1; END:", 4),
            Lines{"branch of lanes 4"});
  // Another bit distinguishes them.
  EXPECT_EQ(
      follow("setp.eq.s32 %p0, %r1, 0x70000; @%p0 bra END; st.global.u32 [%d0], 1; END:", 4, 0x3),
      Lines{});
  EXPECT_EQ(follow("and.b32 %r4, %r1, 7; cvt.u64.u32 %d2, %r4; shl.b64 %d2, %d2, 2;\n"
                   "add.u64 %d2, %d2, %d0; ld.global.u32 %r5, [%d2];",
                   4),
            Lines{"address of lanes 4"});
  EXPECT_EQ(follow("red.global.add.u32 [%d0], %r1;", 4), Lines{"operand of lanes 4"});
  EXPECT_EQ(follow("setp.gt.s32 %p0, %r1, 10; setp.lt.u32 %p1, %r0, 2; and.pred %p2, %p0, %p1;\n"
                   "@%p2 bra END; st.global.u32 [%d0], 1; END:",
                   4),
            Lines{});
}

TEST_F(UndefinedTest, FollowsFromLaneToLane) {
  EXPECT_EQ(follow("shfl.sync.idx.b32 %r4, %r1, 2, 31, -1; st.global.u32 [%d0], %r4;", 4),
            Lines{"stores f of lanes ffffffff, copied"});
  EXPECT_EQ(follow("shfl.sync.down.b32 %r4, %r1, 1, 31, -1; st.global.u32 [%d0], %r4;", 4),
            Lines{"stores f of lanes 2, copied"});
  EXPECT_EQ(follow("setp.gt.s32 %p0, %r1, 10; vote.sync.ballot.b32 %r4, %p0, -1;\n"
                   "st.global.u32 [%d0], %r4;",
                   4),
            Lines{"stores f of lanes ffffffff"});
  EXPECT_EQ(follow("redux.sync.max.s32 %r4, %r1, -1; st.global.u32 [%d0], %r4;", 4),
            Lines{"stores f of lanes ffffffff"});
}

TEST_F(UndefinedTest, FollowsRoundLoops) {
  EXPECT_EQ(follow("mov.u32 %r4, 0; mov.u32 %r5, 0;\n"
                   "AGAIN: add.u32 %r4, %r4, %r1; shr.u32 %r1, %r1, 1; add.u32 %r5, %r5, 1;\n"
                   "setp.lt.u32 %p0, %r5, 9; @%p0 bra AGAIN; st.global.u32 [%d0], %r4;",
                   8),
            Lines{"stores f of lanes 8"});
}

TEST_F(UndefinedTest, FollowsTheRowsOfAMatrix) {
  const std::string load = R"(
  .reg .b32 %x<4>;
  shl.b32 %r4, %r0, 4; mov.u32 %r5, tile; add.u32 %r4, %r4, %r5;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x0, %x1, %x2, %x3}, [%r4];
)";
  // Lanes 12 to 15 hold row 3 of the first matrix.
  EXPECT_EQ(follow(load + "st.global.u32 [%d0], %x0;", 1u << 3, 0xffff),
            Lines{"stores f of lanes f000, copied"});
  // It is row 3 of A, and therefore affects that row of the product.
  EXPECT_EQ(follow(load + R"(
  mov.f32 %f0, 0f00000000;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%x0, %x1, %x2, %x3},
    {%r0, %r0}, {%f0, %f0, %f0, %f0};
  st.global.f32 [%d0], %f0;
  st.global.f32 [%d0+4], %f2;
)",
                   1u << 3, 0xffff),
            Lines{"stores f of lanes f000"});
}

}  // namespace
}  // namespace inflight::machine
