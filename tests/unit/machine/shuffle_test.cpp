// Warp collectives: the results of each lane, and the lanes that wait for each other.
#include <bit>
#include <random>

#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

// The values that 32 lanes store with `st.global.u32 [%rd2], %r9` at the end of `body`.
std::vector<std::uint32_t> lanes_of(const std::string& body, unsigned threads = 32) {
  PtxRunner r({kernel_k(body + "\n st.global.u32 [%rd2], %r9;")});
  auto* out = r.make<std::uint32_t>(threads);
  const Outcome o = r.run("k", {}, {threads, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_TRUE(o.ok()) << o.report;
  return {out, out + threads};
}

struct Shuffled {
  int from;
  bool good;
};

// PTX ISA, shfl: the pseudo code.
Shuffled reference(const std::string& mode, int lane, int b, int c) {
  const int bval = b & 0x1f, cval = c & 0x1f, mask = (c >> 8) & 0x1f;
  const int high = (lane & mask) | (cval & ~mask), low = lane & mask;
  int j = 0;
  bool p = false;
  if (mode == "up") j = lane - bval, p = j >= high;
  if (mode == "down") j = lane + bval, p = j <= high;
  if (mode == "bfly") j = lane ^ bval, p = j <= high;
  if (mode == "idx") j = low | (bval & ~mask), p = j <= high;
  return {p ? j : lane, p};
}

TEST(Shuffle, FollowsThePseudoCodeForEveryOperand) {
  std::mt19937 random(1);
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    // 32 x (b, c) pairs, one per launched thread: each lane has its own b and c.
    PtxRunner r({R"(
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 8;
  add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
  ld.global.v2.u32 {%r2, %r3}, [%rd2];
  add.u32 %r4, %r1, 100;
  shfl.sync.)" + mode +
                 R"(.b32 %r5|%p, %r4, %r2, %r3, -1;
  selp.u32 %r6, 1, 0, %p;
  st.global.v2.u32 [%rd1], {%r5, %r6};
  ret;
})"});
    auto* in = r.make<std::uint32_t>(64);
    auto* out = r.make<std::uint32_t>(64);
    for (int round = 0; round < 50; ++round) {
      for (int i = 0; i < 64; ++i) in[i] = round < 40 ? random() & 0x1f1f : random();
      const Outcome o =
          r.run("k", {}, {32, 1, 1},
                {reinterpret_cast<std::uint64_t>(out), reinterpret_cast<std::uint64_t>(in)});
      ASSERT_TRUE(o.ok()) << o.report;
      for (int l = 0; l < 32; ++l) {
        const Shuffled want = reference(mode, l, int(in[2 * l]), int(in[2 * l + 1]));
        ASSERT_EQ(out[2 * l], std::uint32_t(want.from) + 100) << mode << " lane " << l;
        ASSERT_EQ(out[2 * l + 1], std::uint32_t(want.good)) << mode << " lane " << l;
      }
    }
  }
}

// Constant operands, as in nvcc's code, use a separate code path.
TEST(Shuffle, ConstantOperandsMeanTheSame) {
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const int delta : {0, 1, 2, 7, 16, 31, 33})
      for (const int c : {31, 0, 0x101f, 0x1000, 0x181f, 0x1c1f, 0x1e00, 0x1f1f, 0x0305})
        for (const unsigned threads : {32u, 13u}) {
          const auto got =
              lanes_of("add.u32 %r3, %r1, 100; shfl.sync." + mode + ".b32 %r4|%p1, %r3, " +
                           std::to_string(delta) + ", " + std::to_string(c) + ", -1;\n" +
                           "selp.u32 %r5, 1000, 0, %p1; add.u32 %r9, %r4, %r5;",
                       threads);
          for (int l = 0; l < int(threads); ++l) {
            const Shuffled want = reference(mode, l, delta, c);
            const int given = want.from < int(threads) ? want.from + 100 : 0;
            ASSERT_EQ(got[l], std::uint32_t(given + (want.good ? 1000 : 0)))
                << mode << " " << delta << " " << c << " lane " << l;
          }
        }
}

TEST(Shuffle, SourceAndDestinationMayBeTheSame) {
  const auto got = lanes_of("mov.u32 %r9, %r1; shfl.sync.bfly.b32 %r9, %r9, 1, 31, -1;");
  for (std::uint32_t l = 0; l < 32; ++l) ASSERT_EQ(got[l], l ^ 1);
}

TEST(Shuffle, APartialWarpNeedsOnlyLanesThatLive) {
  const auto got = lanes_of("shfl.sync.down.b32 %r9, %r1, 1, 31, -1;", 20);
  for (std::uint32_t l = 0; l < 19; ++l) ASSERT_EQ(got[l], l + 1);
  EXPECT_EQ(got[19], 0u) << "from a lane that does not live";
}

TEST(Vote, AllAnyUniBallot) {
  const auto got = lanes_of(R"(
  setp.lt.u32 %p1, %r1, 7;
  vote.sync.ballot.b32 %r2, %p1, -1;
  vote.sync.any.pred %p2, %p1, -1;
  vote.sync.all.pred %p3, %p1, -1;
  vote.sync.uni.pred %p4, %p1, -1;
  setp.ge.u32 %p6, %r1, 7;
  setp.ne.u32 %p5, %r1, %r1;
  @%p6 vote.sync.all.pred %p5, !%p1, 0xffffff80;
  selp.u32 %r3, 256, 0, %p2; selp.u32 %r4, 512, 0, %p3; selp.u32 %r5, 1024, 0, %p4;
  selp.u32 %r6, 2048, 0, %p5;
  or.b32 %r9, %r2, %r3; or.b32 %r9, %r9, %r4; or.b32 %r9, %r9, %r5;
  @%p6 or.b32 %r9, %r9, %r6;)");
  for (std::uint32_t l = 0; l < 32; ++l) ASSERT_EQ(got[l], 127u + 256 + (l >= 7 ? 2048 : 0)) << l;
}

TEST(Match, AnyAndAllOfBothWidths) {
  const auto any = lanes_of("rem.u32 %r2, %r1, 3; match.any.sync.b32 %r9, %r2, -1;");
  for (std::uint32_t l = 0; l < 32; ++l) {
    std::uint32_t want = 0;
    for (std::uint32_t k = l % 3; k < 32; k += 3) want |= 1u << k;
    EXPECT_EQ(any[l], want);
  }
  const auto wide = lanes_of(R"(
  shr.u32 %r2, %r1, 4; cvt.u64.u32 %rd5, %r2; shl.b64 %rd5, %rd5, 40;
  match.any.sync.b64 %r9, %rd5, -1;)");
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(wide[l], l < 16 ? 0xffffu : 0xffff0000u);
  const auto all = lanes_of(R"(
  mov.u32 %r3, 5; match.all.sync.b32 %r4|%p1, %r3, -1;
  match.all.sync.b32 %r5|%p2, %r1, -1;
  selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 2, 0, %p2;
  not.b32 %r4, %r4; or.b32 %r9, %r4, %r5; or.b32 %r9, %r9, %r6; or.b32 %r9, %r9, %r7;)");
  for (auto v : all) EXPECT_EQ(v, 1u);
}

TEST(Redux, EveryOperation) {
  const std::string v = "sub.s32 %r2, %r1, 10;\n";  // -10 ... 21
  struct Case {
    const char* op;
    std::uint32_t want;
  };
  for (const Case& c : {Case{"add.s32", 176},
                        {"min.s32", std::uint32_t(-10)},
                        {"max.s32", 21},
                        {"min.u32", 0},
                        {"max.u32", 0xffffffff},
                        {"and.b32", 0},
                        {"or.b32", ~0u},
                        {"add.u32", 176}}) {
    const auto got = lanes_of(v + "redux.sync." + c.op + " %r9, %r2, -1;");
    for (auto value : got) ASSERT_EQ(value, c.want) << c.op;
  }
  const auto parity =
      lanes_of("setp.lt.u32 %p1, %r1, 8; mov.u32 %r9, 0; @%p1 redux.sync.xor.b32 %r9, %r1, 0xff;");
  EXPECT_EQ(parity[3], 0u ^ 1 ^ 2 ^ 3 ^ 4 ^ 5 ^ 6 ^ 7);
}

TEST(Elect, TheSameLaneForTheSameMask) {
  const auto got = lanes_of(R"(
  setp.ge.u32 %p3, %r1, 4;
  mov.u32 %r2, 4;
  setp.ne.u32 %p1, %r1, %r1;
  @%p3 elect.sync %r2|%p1, 0xfffffff0;
  elect.sync _|%p2, -1;
  selp.u32 %r3, 100, 0, %p1; selp.u32 %r4, 1000, 0, %p2;
  add.u32 %r9, %r2, %r3; add.u32 %r9, %r9, %r4;)");
  for (std::uint32_t l = 0; l < 32; ++l)
    EXPECT_EQ(got[l], 4u + (l == 4 ? 100 : 0) + (l == 0 ? 1000 : 0)) << l;
}

TEST(Activemask, CountsTheLanesOfTheBranch) {
  const auto got = lanes_of(R"(
  mov.u32 %r9, 0;
  setp.ge.u32 %p1, %r1, 12;
  @%p1 bra DONE;
  activemask.b32 %r9;
DONE:)");
  for (std::uint32_t l = 0; l < 32; ++l) ASSERT_EQ(got[l], l < 12 ? 0xfffu : 0u);
}

// Each lane's mask names the lanes with the same remainder: four groups in one instruction.
TEST(Shuffle, LanesWithDifferentMasksAreCollectivesOfTheirOwn) {
  const auto got = lanes_of(R"(
  and.b32 %r2, %r1, 3;
  match.any.sync.b32 %r3, %r2, -1;
  redux.sync.add.u32 %r9, %r1, %r3;)");
  for (std::uint32_t l = 0; l < 32; ++l) ASSERT_EQ(got[l], 8 * (l % 4) + 4 * 28);
}

// Even and odd lanes reach the same shuffle in turn, on different paths.
TEST(Shuffle, LanesWaitForEachOtherAcrossABranch) {
  const auto got = lanes_of(R"(
  and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1;
  mov.u32 %r3, 0;
  @%p1 bra ODD;
  add.u32 %r3, %r1, 1000;
  bra MEET;
ODD:
  add.u32 %r3, %r1, 2000;
  nanosleep.u32 20;
MEET:
  shfl.sync.bfly.b32 %r9, %r3, 1, 31, -1;)");
  for (std::uint32_t l = 0; l < 32; ++l) ASSERT_EQ(got[l], (l ^ 1) + (l % 2 ? 1000 : 2000));
}

// PTX requires the same instruction with equal qualifiers and mask, not the same place.
TEST(Shuffle, LanesMeetFromDifferentPlaces) {
  const auto got = lanes_of(R"(
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra LOW;
  add.u32 %r5, %r1, 2000;
  shfl.sync.bfly.b32 %r9, %r5, 16, 31, -1;
  bra END;
LOW:
  add.u32 %r3, %r1, 1000;
  shfl.sync.bfly.b32 %r9, %r3, 16, 31, -1;
  bra END;
END:)");
  for (std::uint32_t l = 0; l < 32; ++l) ASSERT_EQ(got[l], (l ^ 16) + (l < 16 ? 2000 : 1000)) << l;
}

TEST(Vote, LanesMeetFromDifferentPlaces) {
  const auto got = lanes_of(R"(
  setp.lt.u32 %p1, %r1, 16;
  setp.lt.u32 %p2, %r1, 20;
  @%p1 bra LOW;
  vote.sync.ballot.b32 %r9, !%p2, -1;
  bra END;
LOW:
  vote.sync.ballot.b32 %r9, %p2, -1;
  bra END;
END:)");
  for (auto v : got) ASSERT_EQ(v, 0xfff0ffffu);
}

TEST(Shuffle, ExitedLanesAreNotWaitedFor) {
  const auto got = lanes_of(R"(
  mov.u32 %r9, 77;
  st.global.u32 [%rd2], %r9;
  setp.ge.u32 %p1, %r1, 8;
  @%p1 exit;
  vote.sync.ballot.b32 %r9, 1, -1;)");
  for (std::uint32_t l = 0; l < 32; ++l) ASSERT_EQ(got[l], l < 8 ? 0xffu : 77u);
}

TEST(Shuffle, LanesThatNeverComeAreADeadlockThatSaysSo) {
  PtxRunner r({kernel_k(R"(
  setp.ge.u32 %p1, %r1, 8;
  @%p1 bra OTHER;
  shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1;
  bra END;
OTHER:
  bar.sync 0;
END:)")});
  const Outcome o = r.run("k", {}, {32, 1, 1}, {0});
  EXPECT_EQ(o.kind, FaultKind::deadlock);
  EXPECT_NE(o.report.find("member mask 0xffffffff; lanes 8-31 have not arrived"), o.report.npos)
      << o.report;
  EXPECT_NE(o.report.find("barrier 0, at which 24 of 32 threads have arrived"), o.report.npos)
      << o.report;
}

TEST(WarpSync, MeetsFromDifferentPlacesAndOrdersMemory) {
  PtxRunner r({kernel_k(R"(
  mov.u32 %r3, s;
  shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r3;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra LOW;
  st.shared.u32 [%r4], %r1;
  bar.warp.sync -1;
  bra END;
LOW:
  bar.warp.sync -1;
  ld.shared.u32 %r9, [%r4+64];
  st.global.u32 [%rd2], %r9;
END:)",
                        ".shared .align 4 .b8 s[128];")});
  auto* out = r.make<std::uint32_t>(32);
  const Outcome o = r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  for (std::uint32_t l = 0; l < 16; ++l) EXPECT_EQ(out[l], l + 16);
}

TEST(WarpSync, GroupsOfOneWarpGoTheirOwnWay) {
  const auto got = lanes_of(R"(
  and.b32 %r2, %r1, 3;
  match.any.sync.b32 %r3, %r2, -1;
  mov.u32 %r9, 0;
LOOP:
  bar.warp.sync %r3;
  add.u32 %r9, %r9, 1;
  setp.le.u32 %p1, %r9, %r2;
  @%p1 bra LOOP;)");
  for (std::uint32_t l = 0; l < 32; ++l) ASSERT_EQ(got[l], l % 4 + 1);
}

}  // namespace
}  // namespace inflight::machine
