// Every field of the events of mbarriers.
#include "gpu/async/mbarrier.hpp"
#include "tests/unit/machine/event_log.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using Lines = std::vector<std::string>;

// Adds the fields that EventLog leaves out.
class Operations : public EventLog {
 public:
  Operations() : EventLog(check::Topic::mbarriers) {}
  void mbarrier(const check::MbarrierOp& e) override {
    std::string what = fmt::format("{} {}:{}", name(e.op), e.rank, e.address);
    if (e.count) what += fmt::format(" count {}", e.count);
    if (e.tx_bytes) what += fmt::format(" {} bytes", e.tx_bytes);
    if (e.by_parity) what += fmt::format(" parity {}", e.parity);
    if (e.token) what += fmt::format(" token {:x} parity {}", e.token, e.parity);
    if (e.no_complete) what += " no_complete";
    if (e.no_inc) what += " no_inc";
    what += fmt::format(" {} {} -> phase {} pending {} of {} tx {}{}", name(e.order), name(e.scope),
                        e.phase_parity, e.pending, e.expected, e.tx_count, e.done ? " done" : "");
    EXPECT_EQ(e.violation, async::Violation::none) << what;
    add(e.who, what);
  }
};

class MbarrierEvents : public KernelRunner {
 protected:
  // The events of one block. The mbarrier is at 1024, and the word after it at 1032.
  Lines events(Shape shape, const std::string& body) {
    Operations log;
    options.listener = &log;
    options.workers = 1;
    const std::uint64_t out = upload(std::vector<std::uint32_t>(64));
    const Outcome o =
        run(link(".shared .align 8 .b64 bar; .shared .align 8 .b64 tile;\n" + entry(1, R"(
  .reg .b32 %r<8>; .reg .pred %p<4>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [p0];
  mov.u32 %r0, %tid.x;
)" + body + "\n  ret;")),
            shape, {out});
    EXPECT_TRUE(o.ok()) << o.report;
    return log.lines;
  }
};

TEST_F(MbarrierEvents, SayTheOperandsAndTheStateAfterwards) {
  // The state before the first arrival: 5 of 5 are pending.
  const async::mbarrier::Token token = 3ull << 62 | 5 << 20 | 5;
  const std::string by_token = fmt::format("token {:x} parity 0", token), at = " @0.0/1 ";
  EXPECT_EQ(
      events({.block = {1, 1, 1}}, R"(
  mbarrier.init.shared.b64 [bar], 5;
  mbarrier.arrive.noComplete.release.cta.shared.b64 %d1, [bar], 2;
  mbarrier.arrive_drop.release.cluster.shared.b64 _, [bar];
  mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 24;
  mbarrier.test_wait.shared.b64 %p0, [bar], %d1;
  @!%p0 mbarrier.complete_tx.relaxed.cluster.shared.b64 [bar], 24;
  mbarrier.arrive.shared.b64 _, [bar], 2;
  mbarrier.test_wait.relaxed.cluster.shared.b64 %p0, [bar], %d1;
  @%p0 mbarrier.test_wait.parity.acquire.cta.shared.b64 %p1, [bar], 0;
  @%p1 mbarrier.try_wait.shared.b64 %p2, [bar], %d1;
  @%p2 mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p0, [bar], 0;
  @!%p0 exit;
  mbarrier.arrive_drop.expect_tx.shared.b64 _, [bar], 16;
  mbarrier.arrive_drop.noComplete.shared.b64 %d1, [bar], 1;
  mbarrier.inval.shared.b64 [bar];)"),
      (Lines{
          "mbarrier.init.shared.b64" + at +
              "init 0:1024 count 5 release cluster -> phase 0 pending 5 of 5 tx 0",
          "mbarrier.arrive.noComplete.release.cta.shared.b64" + at +
              "arrive 0:1024 count 2 no_complete release cta -> phase 0 pending 3 of 5 tx 0",
          "mbarrier.arrive_drop.release.cluster.shared.b64" + at +
              "arrive_drop 0:1024 count 1 release cluster -> phase 0 pending 2 of 4 tx 0",
          "mbarrier.expect_tx.relaxed.cta.shared.b64" + at +
              "expect_tx 0:1024 count 1 24 bytes relaxed cta -> phase 0 pending 2 of 4 tx 24",
          "mbarrier.test_wait.shared.b64" + at + "test_wait 0:1024 " + by_token +
              " acquire cluster -> phase 0 pending 2 of 4 tx 24",
          "mbarrier.complete_tx.relaxed.cluster.shared.b64" + at +
              "complete_tx 0:1024 count 1 24 bytes relaxed cluster -> phase 0 pending 2 of 4 tx 0",
          "mbarrier.arrive.shared.b64" + at +
              "arrive 0:1024 count 2 release cluster -> phase 1 pending 4 of 4 tx 0 done",
          "mbarrier.test_wait.relaxed.cluster.shared.b64" + at + "test_wait 0:1024 " + by_token +
              " relaxed cluster -> phase 1 pending 4 of 4 tx 0 done",
          "mbarrier.test_wait.parity.acquire.cta.shared.b64" + at +
              "test_wait 0:1024 parity 0 acquire cta -> phase 1 pending 4 of 4 tx 0 done",
          "mbarrier.try_wait.shared.b64" + at + "try_wait 0:1024 " + by_token +
              " acquire cluster -> phase 1 pending 4 of 4 tx 0 done",
          "mbarrier.try_wait.parity.acquire.cluster.shared.b64" + at +
              "try_wait 0:1024 parity 0 acquire cluster -> phase 1 pending 4 of 4 tx 0 done",
          "mbarrier.arrive_drop.expect_tx.shared.b64" + at +
              "arrive_drop 0:1024 count 1 16 bytes release cluster -> phase 1 pending 3 of 3 tx 16",
          "mbarrier.arrive_drop.noComplete.shared.b64" + at +
              "arrive_drop 0:1024 count 1 no_complete release cluster -> phase 1 pending 2 of 2 tx "
              "16",
          "mbarrier.inval.shared.b64" + at +
              "inval 0:1024 count 1 release cluster -> phase 1 pending 2 of 2 tx 16"}));
}

// Lanes that arrive alike are one event, but for the one that completes the phase.
TEST_F(MbarrierEvents, OfLanesThatDoTheSameAreOne) {
  EXPECT_EQ(events({}, R"(
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared.b64 [bar], 96;
  bar.warp.sync -1;
  mbarrier.arrive.shared.b64 _, [bar], 3;
  mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;
  @!%p0 exit;)"),
            (Lines{"mbarrier.init.shared.b64 @0.0/1 init 0:1024 count 96 release cluster -> phase "
                   "0 pending 96 of 96 tx 0",
                   "mbarrier.arrive.shared.b64 @0.0/7fffffff arrive 0:1024 count 3 release cluster "
                   "-> phase 0 pending 3 of 96 tx 0",
                   "mbarrier.arrive.shared.b64 @0.0/80000000 arrive 0:1024 count 3 release cluster "
                   "-> phase 1 pending 96 of 96 tx 0 done",
                   "mbarrier.try_wait.parity.shared.b64 @0.0/ffffffff try_wait 0:1024 parity 0 "
                   "acquire cluster -> phase 1 pending 96 of 96 tx 0 done"}));
}

// Without .noinc, the arrival is added to those that are pending, so it leaves their number.
TEST_F(MbarrierEvents, ArrivalsOfCopiesSayWhetherTheyAreCounted) {
  const std::string counted = "cp.async.mbarrier.arrive.shared.b64 @0.0/1 ",
                    noinc = "cp.async.mbarrier.arrive.noinc.shared.b64 @0.0/1 ";
  const Lines lines = events({.block = {1, 1, 1}}, R"(
  mbarrier.init.shared.b64 [bar], 2;
  mov.u32 %r1, tile;
  cp.async.ca.shared.global [%r1], [%d0], 4;
  cp.async.mbarrier.arrive.shared.b64 [bar];
  cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
  cp.async.wait_all;)");
  EXPECT_EQ(lines,
            (Lines{"mbarrier.init.shared.b64 @0.0/1 init 0:1024 count 2 release cluster -> phase 0 "
                   "pending 2 of 2 tx 0",
                   counted + "async_arrive_issued 0:1024 count 1 release cta -> phase 0 pending 3 "
                             "of 2 tx 0",
                   noinc + "async_arrive_issued 0:1024 count 1 no_inc release cta -> phase 0 "
                           "pending 3 of 2 tx 0",
                   counted + "async_arrive 0:1024 count 1 release cta -> phase 0 pending 2 of 2 "
                             "tx 0",
                   noinc + "async_arrive 0:1024 count 1 no_inc release cta -> phase 0 pending 1 of "
                           "2 tx 0"}));
}

// The events name the block of the mbarrier, which is another one's.
TEST_F(MbarrierEvents, OperationsOnAnotherBlocksMbarrierNameThatBlock) {
  const Lines lines = events({.grid = {2, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}}, R"(
  mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 1;
  @%p0 mbarrier.init.shared.b64 [bar], 2;
  barrier.cluster.arrive; barrier.cluster.wait;
  @%p0 bra DONE;
  mov.u32 %r2, bar; mapa.shared::cluster.u32 %r2, %r2, 1;
  mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r2], 8;
  mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r2], 8;
DONE:
  barrier.cluster.arrive; barrier.cluster.wait;)");
  EXPECT_EQ(lines,
            (Lines{"mbarrier.init.shared.b64 @1.0/1 init 1:1024 count 2 release cluster -> phase 0 "
                   "pending 2 of 2 tx 0",
                   "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 @0.0/1 arrive "
                   "1:1024 count 1 8 bytes relaxed cluster -> phase 0 pending 1 of 2 tx 8",
                   "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 @0.0/1 complete_tx "
                   "1:1024 count 1 8 bytes relaxed cluster -> phase 0 pending 1 of 2 tx 0"}));
}

}  // namespace
}  // namespace inflight::machine
