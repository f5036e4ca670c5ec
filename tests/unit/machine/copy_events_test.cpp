// Events of asynchronous copies: one kernel per kind.
#include "gpu/async/tensor_map.hpp"
#include "tests/unit/machine/event_runner.hpp"

namespace inflight::machine {
namespace {

using check::Topic;
using Lines = std::vector<std::string>;

class CopyEvents : public EventRunner {
 protected:
  // A tensor of 6 x 4 words in rows of 64 bytes, with a box of 4 x 2.
  std::uint64_t make_map(std::uint64_t out) override {
    async::TensorMap m;
    m.type = async::TensorType::u32;
    m.rank = 2;
    m.global_address = out;
    m.dim = {6, 4};
    m.stride = {4, 64};
    m.box = {4, 2};
    const std::uint64_t map = EventRunner::make_map(out);
    *reinterpret_cast<async::OpaqueTensorMap*>(map) = async::pack(m);
    return map;
  }
  static inline const std::string one_thread = "setp.ne.u32 %p0, %r0, 0; @%p0 exit;\n";
  static inline const std::string variables =
      ".shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;\n";
};

// tile is at 1024, followed by bar.
TEST_F(CopyEvents, ThreadsCopiesSayWhichBytesAndWhatIsFilled) {
  const Lines expected{"cp.async.ca.shared.global @0.0/3 issues #1 group global->shared 8 bytes",
                       "  0: 1024 <- nothing 0/8",
                       "  1: 1032 <- out+8 4/8",
                       "cp.async.commit_group @0.0/3 commits group",
                       "cp.async.ca.shared.global @0.0/3 completes #1",
                       "cp.async.wait_group @0.0/3 waited group all but 0",
                       "cp.async.wait_all @0.0/3 waited group all but -1"};
  EXPECT_EQ(events(Topic::copies, {.block = {2, 1, 1}}, R"(
  mul.wide.u32 %d2, %r0, 8; add.u64 %d2, %d2, %d0;
  shl.b32 %r1, %r0, 3; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
  shl.b32 %r3, %r0, 2;
  cp.async.ca.shared.global [%r1], [%d2], 8, %r3;
  cp.async.commit_group;
  cp.async.wait_group 0;
  cp.async.wait_all;)",
                   variables),
            expected);
}

TEST_F(CopyEvents, BytesThatABulkCopyCompletesEndThePhase) {
  const Lines expected{
      "mbarrier.init.shared.b64 @0.0/1 init 0:1280 -> phase 0 pending 1 tx 0",
      "mbarrier.arrive.expect_tx.shared.b64 @0.0/1 arrive 0:1280 32 bytes -> phase 0 pending 0 tx "
      "32",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes @0.0/1 issues #1 "
      "transaction global->shared 32 bytes async mbarrier 0:1280 counts 32",
      "  0: 1024 <- out+64 32/32",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes @0.0/1 completes #1",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes @0.0/1 complete_tx "
      "0:1280 by #1 32 bytes -> phase 1 pending 1 tx 0 done",
      "mbarrier.try_wait.parity.shared.b64 @0.0/1 try_wait 0:1280 -> phase 1 pending 1 tx 0 done"};
  EXPECT_EQ(events(Topic::copies | Topic::mbarriers, {}, one_thread + R"(
  mov.u32 %r1, tile; mov.u32 %r2, bar;
  mbarrier.init.shared.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0+64], 32, [%r2];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
  @!%p1 bra WAIT;)",
                   variables),
            expected);
}

TEST_F(CopyEvents, BulkStoresAndReductionsBelongToGroups) {
  const Lines expected{
      "cp.async.bulk.global.shared::cta.bulk_group @0.0/1 issues #1 bulk group shared->global 16 "
      "bytes async",
      "  0: out+0 <- 1024 16/16",
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 @0.0/1 issues #2 bulk group "
      "shared->global 32 bytes async reducing",
      "  0: out+16 <- 1040 32/32",
      "cp.async.bulk.commit_group @0.0/1 commits bulk group",
      "cp.async.bulk.global.shared::cta.bulk_group @0.0/1 completes #1",
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 @0.0/1 completes #2",
      "cp.async.bulk.wait_group.read @0.0/1 waited bulk group all but 0 read"};
  EXPECT_EQ(events(Topic::copies, {}, one_thread + R"(
  mov.u32 %r1, tile;
  cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 16;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0+16], [%r1+16], 32;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;)",
                   variables),
            expected);
}

// Box at (4, 3): two of its four columns and one of its two rows lie in the tensor.
TEST_F(CopyEvents, TensorLoadsSayWhatIsReadAndWhatIsFilled) {
  const Lines expected{
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes @0.0/1 "
      "issues #1 transaction global->shared 32 bytes async mbarrier 0:1280 counts 32 map map+0 at "
      "4,3",
      "  0: 1024 <- out+208 8/8", "  0: 1032 <- nothing 0/8", "  0: 1040 <- nothing 0/16",
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes @0.0/1 "
      "completes #1"};
  EXPECT_EQ(events(Topic::copies, {}, one_thread + R"(
  mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u32 %r3, 4; mov.u32 %r4, 3;
  mbarrier.init.shared.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d1, {%r3, %r4}], [%r2];)",
                   variables),
            expected);
}

// A store writes whole chunks of 16 bytes, two words more than the row has.
TEST_F(CopyEvents, TensorStoresAndReductionsWriteWhatIsInRange) {
  for (const std::string what : {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
                                 "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile."
                                 "bulk_group"}) {
    const std::string reducing = what.find("reduce") == std::string::npos ? "" : " reducing";
    const Lines expected{what + " @0.0/1 issues #1 bulk group shared->global 32 bytes async" +
                             reducing + " map map+0 at 4,3",
                         "  0: out+208 <- 1024 16/16",
                         "cp.async.bulk.commit_group @0.0/1 commits bulk group",
                         what + " @0.0/1 completes #1",
                         "cp.async.bulk.wait_group @0.0/1 waited bulk group all but 0"};
    EXPECT_EQ(events(Topic::copies, {}, one_thread + R"(
  mov.u32 %r1, tile; mov.u32 %r3, 4; mov.u32 %r4, 3;
  )" + what + R"( [%d1, {%r3, %r4}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)",
                     variables),
              expected)
        << what;
  }
}

// A block writes into its peer's shared memory, and its bytes count at that block's mbarrier.
TEST_F(CopyEvents, CopiesBetweenBlocksSayWhoseMemoryEachEndIs) {
  const std::string bulk = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
                    store = "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32",
                    add = "red.async.relaxed.cluster.global";
  const Lines lines = events(Topic::copies | Topic::mbarriers,
                             {.grid = {2, 1, 1}, .cluster = {2, 1, 1}}, one_thread + R"(
  mov.u32 %r1, %cluster_ctarank;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 mbarrier.init.shared.b64 [bar], 1;
  @%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 28;
  barrier.cluster.arrive; barrier.cluster.wait;
  @%p1 bra DONE;
  mov.u32 %r2, tile; mov.u32 %r3, bar; mov.u32 %r6, 1;
  mapa.shared::cluster.u32 %r4, %r2, 1;
  mapa.shared::cluster.u32 %r5, %r3, 1;
  )" + bulk + R"( [%r4], [%r2+64], 16, [%r5];
  )" + store + R"( [%r4+16], {%r6, %r6}, [%r5];
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r4+32], %r6, [%r5];
DONE:
  barrier.cluster.arrive; barrier.cluster.wait;)",
                             variables);
  const auto has = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  const std::string red =
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32";
  for (const std::string& line :
       {bulk + " @0.0/1 issues #1 transaction shared->shared 16 bytes async ranks 0->1 mbarrier "
               "1:1280 counts 16",
        std::string("  0: 1024 <- 1088 16/16"),
        store + " @0.0/1 issues #2 transaction global->shared 8 bytes async ranks 0->1 of values "
                "mbarrier 1:1280 counts 8",
        std::string("  0: 1040 <- nothing 0/8"),
        red + " @0.0/1 issues #3 transaction global->shared 4 bytes async ranks 0->1 of values "
              "reducing mbarrier 1:1280 counts 4",
        std::string("  0: 1056 <- nothing 0/4"),
        bulk + " @0.0/1 complete_tx 1:1280 by #1 16 bytes -> phase 0 pending 1 tx 12",
        store + " @0.0/1 complete_tx 1:1280 by #2 8 bytes -> phase 0 pending 1 tx 4",
        red + " @0.0/1 complete_tx 1:1280 by #3 4 bytes -> phase 0 pending 1 tx 0"})
    EXPECT_TRUE(has(line)) << line << "\nis none of\n" << fmt::format("{}", fmt::join(lines, "\n"));
}

// Each destination is a copy of its own, which completes bytes on its block's mbarrier.
TEST_F(CopyEvents, AMulticastIsACopyToEachBlock) {
  const std::string copy =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster";
  const Lines lines =
      events(Topic::copies, {.grid = {2, 1, 1}, .cluster = {2, 1, 1}}, one_thread + R"(
  mbarrier.init.shared.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1; @%p1 bra WAIT;
  .reg .b16 %h;
  mov.u32 %r2, tile; mov.u32 %r3, bar; mov.u16 %h, 3;
  )" + copy + R"( [%r2+64], [%d0+16], 32, [%r3], %h;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
  @!%p1 bra WAIT;)",
             variables);
  EXPECT_EQ(lines, (Lines{copy + " @0.0/1 issues #1 transaction global->shared 32 bytes async "
                                 "mbarrier 0:1280 counts 32",
                          "  0: 1088 <- out+16 32/32",
                          copy + " @0.0/1 issues #2 transaction global->shared 32 bytes async "
                                 "ranks 0->1 mbarrier 1:1280 counts 32",
                          "  0: 1088 <- out+16 32/32", copy + " @0.0/1 completes #1",
                          copy + " @0.0/1 completes #2"}));
}

// The bytes complete where the data goes, whichever block the instruction names.
TEST_F(CopyEvents, AMbarrierInAnotherBlockThanTheDataIsNamed) {
  const std::string copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
  const Lines lines =
      events(Topic::copies, {.grid = {2, 1, 1}, .cluster = {2, 1, 1}}, one_thread + R"(
  mbarrier.init.shared.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1; @%p1 bra DONE;
  mov.u32 %r2, tile; mov.u32 %r3, bar;
  mapa.shared::cluster.u32 %r4, %r2, 1;
  )" + copy + R"( [%r4], [%r2], 16, [%r3];
DONE:
  barrier.cluster.arrive; barrier.cluster.wait;)",
             variables);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(), copy +
                               " @0.0/1 issues #1 transaction shared->shared 16 bytes async "
                               "ranks 0->1 mbarrier 1:1280 counts 16 named in 0");
}

TEST_F(CopyEvents, TensorMapsAreReadByTheirOwnProxy) {
  const std::string prefetch = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile",
                    store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
  const Lines lines = events(Topic::accesses | Topic::addresses, {},
                             one_thread + "mov.u32 %r1, tile; mov.u32 %r3, 0;\n" + prefetch +
                                 " [%d1, {%r3, %r3}];\n" + store + " [%d1, {%r3, %r3}], [%r1];\n" +
                                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
                             variables);
  EXPECT_EQ(lines, (Lines{prefetch + " @0.0/1 load global 128 bytes tensormap at map+0",
                          store + " @0.0/1 load global 128 bytes tensormap at map+0"}));
}

TEST_F(CopyEvents, SizesThatAreNoMultipleOfSixteenSayWhatIsLeftOut) {
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group",
                    prefetch = "cp.async.bulk.prefetch.L2.global";
  const Lines expected{
      prefetch + " @0.0/1 prefetches 32 bytes without 12",
      store + " @0.0/1 issues #1 bulk group shared->global 16 bytes async without 8",
      "  0: out+0 <- 1024 16/16",
      "cp.async.bulk.commit_group @0.0/1 commits bulk group",
      store + " @0.0/1 completes #1",
      "cp.async.bulk.wait_group @0.0/1 waited bulk group all but 0"};
  EXPECT_EQ(events(Topic::copies, {}, one_thread + R"(
  mov.u32 %r1, tile;
  )" + prefetch + R"( [%d0], 44;
  )" + store + R"( [%d0], [%r1], 24;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)",
                   variables),
            expected);
}

// Bit i of the mask: byte i of every sixteen.
TEST_F(CopyEvents, AByteMaskLeavesRunsOfBytes) {
  target = "sm_100a";
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group.cp_mask";
  const Lines lines = events(Topic::copies, {}, one_thread + R"(
  .reg .b16 %h;
  mov.u32 %r1, tile; mov.u16 %h, 0x800e;
  )" + store + R"( [%d0], [%r1], 32, %h;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)",
                             variables);
  EXPECT_EQ(Lines(lines.begin(), lines.begin() + 5),
            (Lines{store + " @0.0/1 issues #1 bulk group shared->global 32 bytes async",
                   "  0: out+1 <- 1025 3/3", "  0: out+15 <- 1039 1/1", "  0: out+17 <- 1041 3/3",
                   "  0: out+31 <- 1055 1/1"}));
}

TEST_F(CopyEvents, WhatCompletesOnNoMbarrierBreaksARule) {
  std::vector<std::string> advice;
  options.advise = [&](const std::string&, const std::string& line) { advice.push_back(line); };
  const Lines lines = events(Topic::mbarriers, {}, one_thread + R"(
  mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u64 %d2, 0;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 16, [%r2];
  cp.async.mbarrier.arrive.shared.b64 [%r2];
  cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];
  mbarrier.pending_count.b64 %r3, %d2;)",
                             variables);
  const auto with = [&](std::string_view part) {
    return std::ranges::count_if(
        lines, [&](const auto& line) { return line.find(part) != std::string::npos; });
  };
  EXPECT_EQ(with("complete_tx 0:1280 by #1 16 bytes -> phase 0 pending 0 tx 0 not_initialised"), 1);
  EXPECT_EQ(with("async_arrive_issued 0:1280 -> phase 0 pending 0 tx 0 not_initialised"), 1);
  EXPECT_EQ(with("async_arrive 0:1280 -> phase 0 pending 0 tx 0 not_initialised"), 1);
  // The tests' audit executes it twice.
  EXPECT_GE(with("pending_count 0:4294967295 -> phase 0 pending 0 tx 0 not_a_token"), 1);
  EXPECT_EQ(advice.size(), 4u) << fmt::format("{}", fmt::join(advice, "\n"));
}

}  // namespace
}  // namespace inflight::machine
