// The distribution of a launch's blocks over host threads: each runs once, and a block that another
// waits for is started.
#include "gpu/machine/run/schedule/workers.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST(FreshRun, GivesEachClusterToOne) {
  constexpr u64 runs = 2000, length = 7;
  std::vector<std::atomic<int>> given(runs * length);
  FreshRun run;
  std::atomic<bool> over{false};
  const auto steal = [&] {
    while (!over)
      if (const auto stolen = run.steal(); stolen.count != 0)
        for (u32 i = 0; i < stolen.count; ++i) ++given[stolen.first + i];
  };
  std::vector<std::thread> thieves;
  for (int i = 0; i < 3; ++i) thieves.emplace_back(steal);
  for (u64 n = 0; n < runs; ++n) {
    run.fill({n * length, length});
    for (auto own = run.pop(); own.count != 0; own = run.pop()) ++given[own.first];
  }
  over = true;
  for (auto& thief : thieves) thief.join();
  for (u64 i = 0; i < given.size(); ++i) ASSERT_EQ(given[i], 1) << "cluster " << i;
}

TEST(FreshRun, LosesItsLastHalfToAThief) {
  FreshRun run;
  EXPECT_EQ(run.steal().count, 0u);
  run.fill({100, 5});
  EXPECT_EQ(run.pop().first, 100u);
  const auto stolen = run.steal();
  EXPECT_EQ(stolen.first, 103u);
  EXPECT_EQ(stolen.count, 2u);
  EXPECT_EQ(run.pop().first, 101u);
  EXPECT_EQ(run.steal().first, 102u);
  EXPECT_EQ(run.pop().count, 0u);
}

TEST(WorkQueue, AsksForAsManyAsItIsSoonDoneWith) {
  WorkQueue queue;
  ASSERT_TRUE(queue.claim(1, 1));
  EXPECT_EQ(queue.next_length(), 1u);
  for (const u32 expected : {2u, 4u, 8u, 16u, 32u, 64u, 64u}) {
    queue.finished(10);
    EXPECT_EQ(queue.next_length(), expected);
  }
  EXPECT_EQ(queue.done(1), 7u);
  ASSERT_TRUE(queue.claim(2, 8));
  EXPECT_EQ(queue.next_length(), 8u);
  queue.finished(WorkQueue::run_cycles / 5);
  EXPECT_EQ(queue.next_length(), 5u);
  queue.finished(WorkQueue::run_cycles * 5);
  EXPECT_EQ(queue.next_length(), 1u);
  EXPECT_EQ(queue.done(2), 2u);
}

TEST(WorkQueue, HasOneWorkerInEachLaunch) {
  WorkQueue queue;
  for (const u64 use : {1u, 2u, 5u}) {
    EXPECT_EQ(queue.done(use), 0u);
    EXPECT_TRUE(queue.take_part(use));
    EXPECT_TRUE(queue.claim(use, 1));
    EXPECT_FALSE(queue.claim(use, 1));
    EXPECT_FALSE(queue.take_part(use));
    queue.finished(10);
    EXPECT_EQ(queue.done(use), 1u);
  }
}

// Runs f on a thread that has kept no queues.
template <class F>
void on_new_thread(F f) {
  std::thread(f).join();
}

TEST(Queues, AreKeptByTheThread) {
  on_new_thread([] {
    const WorkQueue* first = nullptr;
    {
      const Queues four(4);
      first = four.begin();
      const Queues inner(2);  // of a launch within the launch
      EXPECT_NE(inner.begin(), first);
    }
    const Queues three(3);
    EXPECT_EQ(three.begin(), first);
    EXPECT_EQ(three.size(), 3u);
    EXPECT_EQ(three.use(), 2u);
    on_new_thread([] { EXPECT_EQ(Queues(3).use(), 1u); });
  });
}

TEST(Queues, AreNotKeptWithClustersInThem) {
  on_new_thread([] {
    Queues(4).spoil();
    EXPECT_EQ(Queues(4).use(), 1u);
  });
}

// A launch of 1000 blocks of 10 instructions on four workers.
struct FourWorkers {
  Launch launch{.grid = {1000, 1, 1}, .block = {32, 1, 1}};
  Options options;
  Code code;
  Grid grid;
  explicit FourWorkers(bool loops) {
    code.ops.resize(10);
    code.loops = loops;
    grid.launch = &launch, grid.options = &options, grid.entry = &code;
  }
  // For tests that leave clusters in the queues.
  void stop() { grid.stop = true; }
};

TEST(Clusters, ThatNobodyWaitsForAreTheSameWorkersInEachLaunch) {
  FourWorkers four(false);
  for (int launch = 0; launch < 2; ++launch) {
    Clusters clusters(four.grid, 1000, 100, 4);
    WorkQueue &third = *clusters.join(2), &first = *clusters.join(0);
    EXPECT_EQ(clusters.take(third).fresh, 500u);
    EXPECT_EQ(clusters.take(first).fresh, 0u);
    EXPECT_EQ(clusters.take(third).fresh, 501u);
    // No worker has the second index. Its share goes to workers without other work.
    std::vector<int> given(1000);
    given[0] = given[500] = given[501] = 1;
    for (auto ticket = clusters.take(first); ticket; ticket = clusters.take(first))
      ++given[ticket.fresh];
    EXPECT_EQ(given, std::vector<int>(1000, 1));
  }
}

TEST(Clusters, ThatALateWorkerWouldHaveRunAreGivenToOthers) {
  FourWorkers four(false);
  four.stop();
  Clusters clusters(four.grid, 1000, 100, 4);
  WorkQueue& first = *clusters.join(0);
  for (int i = 0; i < 250; ++i) ASSERT_TRUE(clusters.take(first));
  EXPECT_EQ(clusters.take(first).fresh, 250u);  // the second worker's part
  WorkQueue* const second = clusters.join(1);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(clusters.take(*second).fresh, 500u);
}

TEST(Clusters, ThatMayBeWaitedForAreHandedOutInOrder) {
  FourWorkers four(true);
  four.stop();
  Clusters clusters(four.grid, 1000, 100, 4);
  WorkQueue &third = *clusters.join(2), &first = *clusters.join(0);
  EXPECT_EQ(clusters.take(third).fresh, 0u);
  EXPECT_EQ(clusters.take(first).fresh, 1u);
  EXPECT_EQ(clusters.take(third).fresh, 2u);
}

TEST(Clusters, GiveEachWorkerAQueue) {
  FourWorkers four(false);
  four.stop();
  Clusters clusters(four.grid, 1000, 100, 4);
  std::vector<WorkQueue*> queues;
  for (const unsigned place : {3u, 3u, 9u, 0u}) queues.push_back(clusters.join(place));
  std::sort(queues.begin(), queues.end());
  EXPECT_EQ(std::unique(queues.begin(), queues.end()), queues.end());
  EXPECT_EQ(clusters.join(1), nullptr);
}

class Workers : public KernelRunner {
 protected:
  // Runs `body` in blocks of one warp. Each block adds 1 to its word at p0.
  void expect_each_once(const std::string& body, u32 blocks) {
    const Program* program = link(entry(1, R"(
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 ret;
)" + body + "\n  red.global.add.u32 [%rd2], 1;\n  ret;"));
    for (const unsigned workers : {1u, 2u, 3u, 7u}) {
      options.workers = workers;
      const u64 out = upload(std::vector<u32>(blocks));
      const Outcome o = run(program, {{blocks, 1, 1}, {32, 1, 1}}, {out});
      ASSERT_TRUE(o.ok()) << o.report;
      EXPECT_EQ(download<u32>(out, blocks), std::vector<u32>(blocks, 1)) << workers << " workers";
      memory.release(out);
    }
  }
  static constexpr const char* loop = R"(
  and.b32 %r3, %r1, 15; mov.u32 %r4, 0;
AGAIN:
  add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r3; @%p2 bra AGAIN;
)";
};

TEST_F(Workers, RunEachBlockOnce) {
  for (const u32 blocks : {2u, 5u, 64u, 1000u, 20000u}) {
    expect_each_once("", blocks);
    expect_each_once(loop, blocks);
  }
}

TEST_F(Workers, RunEachBlockOnceWhereFewHaveRoom) {
  limits.multiprocessors = 1;
  limits.max_blocks_per_multiprocessor = 3;
  expect_each_once("", 5000);
  expect_each_once(loop, 5000);
}

// The first thousand end at once, so that later ones are handed out in large batches. Each of the
// rest waits for the next one, which the same worker may have.
TEST_F(Workers, StartWhomAnotherWaitsFor) {
  constexpr const char* wait_for_next = R"(
  setp.lt.u32 %p2, %r1, 1000;
  setp.eq.or.u32 %p2, %r1, 1199, %p2;
  @%p2 bra GO;
WAIT:
  ld.volatile.global.u32 %r3, [%rd2+4];
  setp.eq.u32 %p3, %r3, 0;
  @%p3 bra WAIT;
GO:
)";
  expect_each_once(wait_for_next, 1200);
  limits.multiprocessors = 25;
  limits.max_blocks_per_multiprocessor = 8;
  expect_each_once(wait_for_next, 1200);
}

// Blocks that work, and blocks that only wait for them: no worker idles while others work.
TEST_F(Workers, EndTogetherWhereSomeWaitForAll) {
  const Program* program = link(entry(2, R"(
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
  mov.u32 %r5, 0;
ROUND:
  atom.global.add.u32 %r1, [%rd1], 1;
  add.u32 %r5, %r5, 1;
  cvt.u32.u64 %r2, %rd2;
  mul.lo.u32 %r2, %r2, %r5;
WAIT:
  ld.volatile.global.u32 %r3, [%rd1];
  setp.lt.u32 %p1, %r3, %r2;
  @%p1 bra WAIT;
  setp.lt.u32 %p2, %r5, 10;
  @%p2 bra ROUND;
  ret;)"));
  for (const unsigned workers : {1u, 2u, 5u}) {
    options.workers = workers;
    const u64 count = upload(std::vector<u32>(1));
    const Outcome o = run(program, {{132, 1, 1}, {1, 1, 1}}, {count, 132});
    ASSERT_TRUE(o.ok()) << o.report;
    EXPECT_EQ(download<u32>(count, 1)[0], 1320u);
  }
}

// A time-out reports how many blocks have ended, including those handed out together.
TEST_F(Workers, CountWhatIsDone) {
  const Program* program = link(entry(1, R"(
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 300;
  @%p1 ret;
FOREVER:
  ld.volatile.global.u32 %r2, [%rd1];
  bra FOREVER;)"));
  const u64 word = upload(std::vector<u32>(1));
  options.timeout = std::chrono::milliseconds{500};
  for (const unsigned workers : {1u, 2u}) {
    options.workers = workers;
    const Outcome o = run(program, {{1000, 1, 1}, {32, 1, 1}}, {word});
    EXPECT_EQ(o.kind, FaultKind::timeout);
    EXPECT_NE(o.report.find("; 999 of 1000 blocks were done"), std::string::npos) << o.report;
  }
}

}  // namespace
}  // namespace inflight::machine
