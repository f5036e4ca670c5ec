// Events of fences, barriers, collectives and waits: one kernel per kind.
#include <gmock/gmock.h>

#include <atomic>

#include "gpu/machine/config/dependency.hpp"
#include "tests/unit/machine/event_runner.hpp"

namespace inflight::machine {
namespace {

using check::Topic;
using Lines = std::vector<std::string>;

class SynchronisationEvents : public EventRunner {};

TEST_F(SynchronisationEvents, FencesSayKindOrderScopeAndProxies) {
  const Lines expected{
      "fence.acq_rel.gpu @0.0/ffffffff memory acq_rel gpu",
      "fence.sc.cluster @0.0/ffffffff memory seq_cst cluster",
      "fence.acquire.sync_restrict::shared::cluster.cluster @0.0/ffffffff memory acquire cluster "
      "only shared",
      "fence.release.sync_restrict::shared::cta.cluster @0.0/ffffffff memory release cluster only "
      "shared::cta",
      "membar.cta @0.0/ffffffff memory seq_cst cta",
      "membar.gl @0.0/ffffffff memory seq_cst gpu",
      "membar.sys @0.0/ffffffff memory seq_cst sys",
      "fence.mbarrier_init.release.cluster @0.0/ffffffff mbarrier_init release cluster",
      "fence.proxy.alias @0.0/ffffffff proxy acq_rel cta generic->alias",
      "fence.proxy.async @0.0/ffffffff proxy acq_rel cta generic->async",
      "fence.proxy.async.shared::cta @0.0/ffffffff proxy acq_rel cta generic->async only "
      "shared::cta",
      "fence.proxy.async.global @0.0/ffffffff proxy acq_rel cta generic->async only global",
      "fence.proxy.tensormap::generic.release.gpu @0.0/ffffffff proxy release gpu "
      "generic->tensormap",
      "fence.proxy.tensormap::generic.acquire.sys @0.0/ffffffff proxy acquire sys "
      "generic->tensormap only global 128 bytes at out+0"};
  std::string body;
  for (const std::string& line : expected) {
    const std::string opcode = line.substr(0, line.find(' '));
    body +=
        opcode + (opcode.find("acquire.sys") == std::string::npos ? ";" : " [%d0], 128;") + "\n";
  }
  EXPECT_EQ(events(Topic::fences, {}, body), expected);
}

TEST_F(SynchronisationEvents, AGuardedFenceIsThatOfItsLanes) {
  const Lines expected{"fence.acq_rel.cta @0.0/fff memory acq_rel cta"};
  EXPECT_EQ(events(Topic::fences, {}, R"(
  setp.lt.u32 %p0, %r0, 12;
  @%p0 fence.acq_rel.cta;
  setp.gt.u32 %p0, %r0, 40;
  @%p0 fence.acq_rel.cta;)"),
            expected);
}

TEST_F(SynchronisationEvents, BarriersOfABlockSayWhoArrivedAndWhichPhaseIsComplete) {
  const Lines expected{
      "bar.sync @0.0/ffffffff cta 0 sync expected 0 arrived 32 phase 0 acq_rel",
      "bar.sync @0.1/ffffffff cta 0 sync expected 0 arrived 64 phase 0 acq_rel",
      "bar.sync @0.1/ffffffff cta 0 complete expected 0 arrived 64 phase 0 acq_rel",
      "bar.sync @0.1/ffffffff cta 0 sync expected 0 arrived 32 phase 1 acq_rel",
      "bar.sync @0.0/ffffffff cta 0 sync expected 0 arrived 64 phase 1 acq_rel",
      "bar.sync @0.0/ffffffff cta 0 complete expected 0 arrived 64 phase 1 acq_rel"};
  EXPECT_EQ(events(Topic::barriers, {.block = {64, 1, 1}}, "bar.sync 0; bar.sync 0;"), expected);
}

TEST_F(SynchronisationEvents, NamedBarriersSayWhoOnlyArrivesAndWhoReduces) {
  const Lines expected{
      "barrier.arrive @0.0/ffffffff cta 3 arrive expected 64 arrived 32 phase 0 acq_rel given "
      "64 unaligned",
      "barrier.sync.aligned @0.1/ffffffff cta 3 sync expected 64 arrived 64 phase 0 acq_rel given "
      "64",
      "barrier.sync.aligned @0.1/ffffffff cta 3 complete expected 64 arrived 64 phase 0 acq_rel",
      "barrier.red.popc.u32 @0.1/ffffffff cta 5 reduce expected 32 arrived 32 phase 0 acq_rel "
      "given 20 unaligned",
      "barrier.red.popc.u32 @0.1/ffffffff cta 5 complete expected 32 arrived 32 phase 0 acq_rel"};
  EXPECT_EQ(events(Topic::barriers, {.block = {96, 1, 1}}, R"(
  setp.ge.u32 %p0, %r0, 64;
  @%p0 exit;
  setp.lt.u32 %p0, %r0, 32;
  @%p0 bra FIRST;
  barrier.sync.aligned 3, 64;
  barrier.red.popc.u32 %r1, 5, 20, %p0;
  ret;
FIRST:
  barrier.arrive 3, 64;)"),
            expected);
}

// An exit may be the last event that a barrier waits for.
TEST_F(SynchronisationEvents, AnExitCompletesABarrier) {
  const Lines expected{"bar.sync @0.0/ffffffff cta 0 sync expected 0 arrived 32 phase 0 acq_rel",
                       "- @0.1/ffffffff cta 0 complete expected 0 arrived 32 phase 0 acq_rel"};
  EXPECT_EQ(events(Topic::barriers, {.block = {64, 1, 1}}, R"(
  setp.ge.u32 %p0, %r0, 32;
  @%p0 exit;
  bar.sync 0;)"),
            expected);
}

TEST_F(SynchronisationEvents, ClusterBarriersHaveArrivalsWaitsAndCompletions) {
  const Lines lines = events(Topic::barriers, {.grid = {2, 1, 1}, .cluster = {2, 1, 1}}, R"(
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait;)");
  const std::string first = "barrier.cluster.arrive.release",
                    second = "barrier.cluster.wait.acquire",
                    third = "barrier.cluster.arrive.relaxed.aligned", last = "barrier.cluster.wait";
  const auto step = [](const std::string& opcode, unsigned block, const std::string& what,
                       unsigned arrived, unsigned phase, const std::string& order) {
    return fmt::format("{} @{}.0/ffffffff cluster 0 {} expected 0 arrived {} phase {} {}", opcode,
                       block, what, arrived, phase, order);
  };
  const Lines expected{step(first, 0, "arrive", 32, 0, "release unaligned"),
                       step(first, 1, "arrive", 64, 0, "release unaligned"),
                       step(first, 1, "complete", 64, 0, "acq_rel"),
                       step(second, 1, "wait", 0, 0, "acquire unaligned"),
                       step(third, 1, "arrive", 32, 1, "relaxed"),
                       step(second, 0, "wait", 32, 0, "acquire unaligned"),
                       step(third, 0, "arrive", 64, 1, "relaxed"),
                       step(third, 0, "complete", 64, 1, "acq_rel"),
                       step(last, 0, "wait", 0, 1, "acquire unaligned"),
                       step(last, 1, "wait", 0, 1, "acquire unaligned")};
  EXPECT_EQ(lines, expected);
}

TEST_F(SynchronisationEvents, ThreadsThatHaveNotArrivedWaitForNoCluster) {
  const Lines expected{
      "barrier.cluster.arrive @0.0/ff cluster 0 arrive expected 0 arrived 8 phase 0 release "
      "unaligned",
      "barrier.cluster.wait @0.0/ffffff00 cluster 0 wait_alone expected 0 arrived 8 phase 0 "
      "acquire unaligned",
      "- @0.0/ffffff00 cluster 0 complete expected 0 arrived 8 phase 0 acq_rel",
      "barrier.cluster.wait @0.0/ff cluster 0 wait expected 0 arrived 0 phase 0 acquire unaligned"};
  EXPECT_EQ(events(Topic::barriers, {}, R"(
  setp.lt.u32 %p0, %r0, 8;
  @%p0 barrier.cluster.arrive;
  @%p0 bra WAIT;
  barrier.cluster.wait;
  exit;
WAIT:
  barrier.cluster.wait;)"),
            expected);
}

TEST_F(SynchronisationEvents, DependentGridsAreToldWhoLetsThemBeginAndWhoWaits) {
  const Lines lines = events(Topic::barriers, {}, R"(
  setp.lt.u32 %p0, %r0, 8;
  @%p0 griddepcontrol.launch_dependents;
  griddepcontrol.wait;)");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("griddepcontrol.launch_dependents @0.0/ff grid 0 arrive"))
      << lines[0];
  EXPECT_TRUE(lines[1].starts_with("griddepcontrol.wait @0.0/ffffffff grid 0 wait")) << lines[1];
}

TEST_F(SynchronisationEvents, CollectivesAreToldOnceWithAllTheirLanes) {
  const Lines expected{"shfl.sync.bfly.b32 @0.0/ffffffff shuffle of ffffffff",
                       "shfl.sync.idx.b32 @0.0/ffffffff shuffle of ffffffff",
                       "vote.sync.ballot.b32 @0.0/ffffffff vote of ffffffff",
                       "match.any.sync.b32 @0.0/ffffffff match of ffffffff",
                       "redux.sync.add.u32 @0.0/ffffffff reduce of ffffffff",
                       "elect.sync @0.0/ffffffff elect of ffffffff",
                       "activemask.b32 @0.0/f activemask of f",
                       "bar.warp.sync @0.0/ffffffff sync of ffffffff"};
  EXPECT_EQ(events(Topic::collectives, {}, R"(
  shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffffffff;
  mov.u32 %r2, -1;
  shfl.sync.idx.b32 %r1, %r0, %r0, 31, %r2;
  setp.lt.u32 %p0, %r0, 4;
  vote.sync.ballot.b32 %r1, %p0, 0xffffffff;
  match.any.sync.b32 %r1, %r0, 0xffffffff;
  redux.sync.add.u32 %r1, %r0, 0xffffffff;
  elect.sync %r1|%p1, 0xffffffff;
  @%p0 activemask.b32 %r1;
  bar.warp.sync 0xffffffff;)"),
            expected);
}

// Lanes that reach a collective, or bar.warp.sync, from different places wait for each other.
TEST_F(SynchronisationEvents, LanesThatMeetFromDifferentPlacesAreOneEvent) {
  for (const std::string what :
       {"vote.sync.ballot.b32 %r1, %p0, 0xffffffff;", "bar.warp.sync 0xffffffff;"}) {
    const std::string opcode = what.substr(0, what.find(' ')),
                      kind = opcode[0] == 'v' ? "vote" : "sync";
    const Lines lines = events(Topic::collectives | Topic::waits, {}, R"(
  setp.lt.u32 %p0, %r0, 4;
  @%p0 bra FEW;
  )" + what + R"(
  bra DONE;
FEW:
  add.u32 %r3, %r0, 1;
  )" + what + R"(
DONE:)");
    ASSERT_EQ(lines.size(), 3u) << what;
    EXPECT_EQ(lines[1], opcode + " @0.0/ffffffff " + kind + " of ffffffff");
    const std::string begin = lines[0], end = lines[2];
    EXPECT_NE(begin.find("begins waiting for collective ffffffff"), std::string::npos) << begin;
    EXPECT_NE(end.find("ends waiting for collective ffffffff"), std::string::npos) << end;
    const auto lanes_of = [](const std::string& line) {
      return line.substr(line.find('@'), line.find(' ', line.find('@')) - line.find('@'));
    };
    EXPECT_EQ(lanes_of(begin), lanes_of(end));
  }
}

// Two halves of a warp are separate collectives at one instruction.
TEST_F(SynchronisationEvents, EachMemberMaskIsACollectiveOfItsOwn) {
  const Lines expected{"vote.sync.ballot.b32 @0.0/ffff vote of ffff",
                       "vote.sync.ballot.b32 @0.0/ffff0000 vote of ffff0000"};
  EXPECT_EQ(events(Topic::collectives, {}, R"(
  setp.lt.u32 %p0, %r0, 16;
  selp.u32 %r1, 0xffff, 0xffff0000, %p0;
  vote.sync.ballot.b32 %r2, %p0, %r1;)"),
            expected);
}

TEST_F(SynchronisationEvents, WaitsAtBarriersBeginAndEnd) {
  const Lines expected{"bar.sync @0.0/ffffffff begins waiting for barrier 2",
                       "bar.sync @0.0/ffffffff ends waiting for barrier 2"};
  EXPECT_EQ(events(Topic::waits, {.block = {64, 1, 1}}, "bar.sync 2;"), expected);
}

TEST_F(SynchronisationEvents, WaitsForTheClusterBeginAndEnd) {
  const Lines expected{
      "barrier.cluster.wait @0.0/ffffffff begins waiting for barrier of the cluster",
      "barrier.cluster.wait @0.0/ffffffff ends waiting for barrier of the cluster"};
  EXPECT_EQ(events(Topic::waits, {.grid = {2, 1, 1}, .cluster = {2, 1, 1}},
                   "barrier.cluster.arrive; barrier.cluster.wait;"),
            expected);
}

TEST_F(SynchronisationEvents, WaitsAtMbarriersSayWhichPhase) {
  const Lines lines = events(Topic::waits, {.block = {64, 1, 1}}, R"(
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared.b64 [m], 32;
  bar.sync 0;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra ARRIVE;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;
  @!%p2 bra WAIT;
  ret;
ARRIVE:
  nanosleep.u32 2000;
  mbarrier.arrive.shared.b64 _, [m];)",
                             ".shared .align 8 .b64 m;\n");
  const auto of = [&](std::string_view opcode) {
    Lines found;
    for (const auto& line : lines)
      if (line.starts_with(opcode)) found.push_back(line);
    return found;
  };
  EXPECT_EQ(of("mbarrier"),
            (Lines{"mbarrier.try_wait.parity.shared.b64 @0.0/ffffffff begins waiting for mbarrier "
                   "1024 phase 0",
                   "mbarrier.try_wait.parity.shared.b64 @0.0/ffffffff ends waiting for mbarrier "
                   "1024 phase 0"}));
  EXPECT_EQ(of("nanosleep"), (Lines{"nanosleep.u32 @0.1/ffffffff begins waiting for sleep",
                                    "nanosleep.u32 @0.1/ffffffff ends waiting for sleep"}));
}

// Warp 3 joins the warpgroup late. Bit w of the mask: warp w is missing.
TEST_F(SynchronisationEvents, WaitsForAWarpgroupNameTheWarpsThatAreMissing) {
  const Lines lines = events(Topic::waits, {.block = {256, 1, 1}}, R"(
  .reg .f32 %f<4>;
  setp.lt.u32 %p0, %r0, 128; @%p0 exit;
  setp.lt.u32 %p0, %r0, 224; @%p0 bra NOW;
  nanosleep.u32 20000;
NOW:
  setp.ne.u32 %p1, %r0, %r0;
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  mov.u32 %r1, tile; shr.u32 %r1, %r1, 4;
  cvt.u64.u32 %d2, %r1; or.b64 %d2, %d2, 0x0000000800080000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d2, %d2, %p1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;)",
                             ".shared .align 1024 .b8 tile[4096];\n");
  Lines begun, ended;
  const std::string opcode = "wgmma.wait_group.sync.aligned ", end = " ends waiting for warpgroup";
  for (const std::string& line : lines)
    if (line.starts_with("wgmma")) (line.ends_with(end) ? ended : begun).push_back(line);
  EXPECT_THAT(begun,
              testing::ElementsAre(opcode + "@0.4/ffffffff begins waiting for warpgroup e0",
                                   opcode + "@0.5/ffffffff begins waiting for warpgroup c0",
                                   opcode + "@0.6/ffffffff begins waiting for warpgroup 80"));
  EXPECT_THAT(ended, testing::UnorderedElementsAre(opcode + "@0.4/ffffffff" + end,
                                                   opcode + "@0.5/ffffffff" + end,
                                                   opcode + "@0.6/ffffffff" + end));
}

class WaitEvents : public EventRunner {
 protected:
  // The waits of a launch of `body` by one warp, and its outcome.
  Lines waits(const std::string& body, Prerequisites* prerequisites, FaultKind expected) {
    EventLog log(Topic::waits);
    options.listener = &log;
    Launch launch;
    const Program* const program = link(entry(0, "  .reg .pred %p0; .reg .b32 %r<4>;\n" + body));
    launch.kernel = program->kernel("k");
    launch.block = {32, 1, 1};
    launch.prerequisites = prerequisites;
    const Outcome o = machine::run(launch, limits, options, [](std::string_view) {});
    EXPECT_EQ(o.kind, expected) << o.report;
    return log.lines;
  }
};

// The grid in front ends when a worker has nothing else to do.
class Late final : public Prerequisites {
 public:
  bool complete() const override { return complete_; }
  void rest(unsigned /*workers*/) override { complete_ = true; }

 private:
  std::atomic<bool> complete_{false};
};

TEST_F(WaitEvents, SayThatThreadsWaitForTheGridInFront) {
  Late late;
  EXPECT_EQ(waits("  griddepcontrol.wait;\n  ret;", &late, FaultKind::none),
            (Lines{"griddepcontrol.wait @0.0/ffffffff begins waiting for barrier of the grid",
                   "griddepcontrol.wait @0.0/ffffffff ends waiting for barrier of the grid"}));
}

TEST_F(WaitEvents, SayThatThreadsRepeatALoopForNothing) {
  const Lines lines = waits("  bar.sync 0;\nLOOP:\n  add.u32 %r0, %r0, 1;\n  bra LOOP;", nullptr,
                            FaultKind::deadlock);
  EXPECT_EQ(lines, (Lines{"add.u32 @0.0/ffffffff begins waiting for nothing"}));
}

TEST_F(SynchronisationEvents, AreNotToldToWhoDidNotAsk) {
  const std::string body = R"(
  fence.acq_rel.gpu;
  shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffffffff;
  bar.sync 0;)";
  EXPECT_EQ(events(Topic::fences, {.block = {64, 1, 1}}, body).size(), 2u);
  EXPECT_EQ(events(Topic::collectives, {.block = {64, 1, 1}}, body).size(), 2u);
  EXPECT_EQ(events(Topic::barriers, {.block = {64, 1, 1}}, body).size(), 3u);
  EXPECT_EQ(events(Topic::copies, {.block = {64, 1, 1}}, body).size(), 0u);
}

}  // namespace
}  // namespace inflight::machine
