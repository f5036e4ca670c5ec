// The target architecture that bulk copies require.
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

// One thread fills 64 bytes of shared memory with 0, 1, 2 ... and copies them to `out`.
std::string kernel(const std::string& target, const std::string& copy) {
  return ".version 8.7\n.target " + target + "\n.address_size 64\n" +
         kernel_k(R"(
  .reg .b16 %h1;
  setp.ne.u32 %p1, %r1, 0; @%p1 exit;
  mov.u32 %r3, s; mov.u32 %r4, 0;
fill:
  add.u32 %r5, %r3, %r4;
  st.shared.u8 [%r5], %r4;
  add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 64; @%p1 bra fill;
  mov.u16 %h1, 0x8005; mov.b64 %rd3, 0;
)" + copy + " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
                  ".shared .align 64 .b8 s[64]; .shared .align 8 .b64 m;");
}

struct Result {
  Outcome outcome;
  std::vector<std::uint8_t> out;  // 64 bytes that were 0xff
};
Result result_of(const std::string& target, const std::string& copy) {
  PtxRunner r({kernel(target, copy)}, false);
  auto* bytes = r.make<std::uint8_t>(64);
  std::memset(bytes, 0xff, 64);
  const Outcome o = r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(bytes)});
  return {o, {bytes, bytes + 64}};
}

TEST(BulkByteMask, ChoosesBytesOfEverySixteenFromSm100On) {
  for (const char* target : {"sm_100", "sm_100a", "sm_120"})
    for (const char* copy :
         {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [s], 48, %h1;",
          "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd1], [s], 48, "
          "%rd3, %h1;"}) {
      const Result r = result_of(target, copy);
      ASSERT_TRUE(r.outcome.ok()) << target << r.outcome.report;
      for (unsigned i = 0; i < 64; ++i) {
        const bool written = i < 48 && (0x8005 >> i % 16 & 1) != 0;
        ASSERT_EQ(r.out[i], written ? i : 0xff) << i;
      }
    }
}

TEST(BulkByteMask, IsRefusedByNameBeforeSm100) {
  for (const char* target : {"sm_90", "sm_90a"}) {
    const Result r = result_of(
        target, "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [s], 48, %h1;");
    EXPECT_EQ(r.outcome.kind, FaultKind::refused);
    EXPECT_NE(r.outcome.report.find(".cp_mask needs .target sm_100 or later"), std::string::npos)
        << r.outcome.report;
    EXPECT_EQ(r.out[0], 0xff);
  }
}

TEST(BulkByteMask, IsRefusedWherePtxHasNone) {
  for (const char* copy :
       {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.cp_mask [s], [%rd1], "
        "48, [m], %h1;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32.cp_mask [%rd1], [s], 48, "
        "%h1;"}) {
    const Result r = result_of("sm_100", copy);
    EXPECT_EQ(r.outcome.kind, FaultKind::refused) << copy;
    EXPECT_NE(r.outcome.report.find("cp_mask"), std::string::npos) << r.outcome.report;
  }
}

// Loads `out`, whose bytes are all 0xff, to s and stores s there.
std::string there_and_back(const std::string& load) {
  return "mbarrier.init.shared.b64 [m], 1; mbarrier.arrive.expect_tx.shared.b64 _, [m], 32; " +
         load +
         " wait: mbarrier.try_wait.parity.shared.b64 %p1, [m], 0; @!%p1 bra wait;"
         "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 64;";
}
const std::string to_own = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes";

TEST(BulkEnds, AreLeftOutAndCountOnTheMbarrier) {
  struct Ends {
    const char *left, *right;
    unsigned first, last;
  };
  for (const Ends& ends :
       {Ends{"3", "5", 3, 27}, Ends{"0", "0", 0, 32}, Ends{"15", "15", 15, 17}}) {
    const Result r = result_of("sm_90a", there_and_back(to_own + ".ignore_oob [s], [%rd1], 32, " +
                                                        ends.left + ", " + ends.right + ", [m];"));
    ASSERT_TRUE(r.outcome.ok()) << r.outcome.report;
    for (unsigned i = 0; i < 64; ++i)
      EXPECT_EQ(r.out[i], i >= ends.first && i < ends.last ? 0xff : i) << i;
  }
  const Result hinted = result_of(
      "sm_90", there_and_back(to_own + ".L2::cache_hint.ignore_oob [s], [%rd1], 32, 1, 2, [m], "
                                       "%rd3;"));
  ASSERT_TRUE(hinted.outcome.ok()) << hinted.outcome.report;
  EXPECT_EQ(hinted.out[0], 0);
  EXPECT_EQ(hinted.out[1], 0xff);
}

TEST(BulkEnds, AreAtMostFifteenBytes) {
  const Result r =
      result_of("sm_90a", there_and_back(to_own + ".ignore_oob [s], [%rd1], 32, 16, 0, [m];"));
  EXPECT_EQ(r.outcome.kind, FaultKind::illegal_instruction);
  EXPECT_NE(r.outcome.report.find("leaves out 16 bytes before"), std::string::npos)
      << r.outcome.report;
  const Result other = result_of(
      "sm_90a",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.ignore_oob [s], [%rd1], "
      "32, 1, 1, [m];");
  EXPECT_EQ(other.outcome.kind, FaultKind::refused);
  EXPECT_NE(other.outcome.report.find("only copies from .global to .shared::cta"),
            std::string::npos)
      << other.outcome.report;
}

TEST(StrongBulkCopies, CopyAsOthersDo) {
  for (const char* copy :
       {"cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.b128 [%rd1], [s], 48;",
        "cp.async.bulk.relaxed.sys.global.shared::cta.bulk_group.L2::cache_hint.b128 [%rd1], [s], "
        "48, %rd3;",
        "cp.async.bulk.weak.global.shared::cta.bulk_group [%rd1], [s], 48;"}) {
    const Result r = result_of("sm_90a", copy);
    ASSERT_TRUE(r.outcome.ok()) << r.outcome.report;
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(r.out[i], i < 48 ? i : 0xff) << copy;
  }
  const Result load = result_of(
      "sm_90a",
      there_and_back("cp.async.bulk.relaxed.cta.shared::cta.global.mbarrier::complete_tx::bytes"
                     ".b128 [s], [%rd1], 32, [m];"));
  ASSERT_TRUE(load.outcome.ok()) << load.outcome.report;
  EXPECT_EQ(load.out[31], 0xff);
  EXPECT_EQ(load.out[32], 32);
}

TEST(StrongBulkCopies, NeedTheirScopeAndType) {
  for (const char* copy :
       {"cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group [%rd1], [s], 48;",
        "cp.async.bulk.relaxed.global.shared::cta.bulk_group.b128 [%rd1], [s], 48;",
        "cp.async.bulk.global.shared::cta.bulk_group.b128 [%rd1], [s], 48;",
        "cp.async.bulk.relaxed.gpu.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.b128 "
        "[s], [s], 48, [m];"}) {
    const Result r = result_of("sm_90a", copy);
    EXPECT_EQ(r.outcome.kind, FaultKind::refused) << copy;
    EXPECT_NE(r.outcome.report.find("strong"), std::string::npos) << r.outcome.report;
  }
}

}  // namespace
}  // namespace inflight::machine
