// Launches that are prepared while the one in front of them runs: their order, their clock, and
// what faults and other failures leave undone.
#include <atomic>
#include <memory>
#include <new>
#include <thread>

#include "gpu/machine/config/dependency.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Block b multiplies its words at p0 by 3 and adds p1, then stores the device's time at p2.
// Launches in another order would give other words.
constexpr const char* step = R"(
  .reg .b64 %rd<8>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u64 %rd5, [p2];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd3, %rd1, %rd3;
  mov.u64 %rd4, %clock64;
  st.global.u64 [%rd5], %rd4;
  ld.global.u32 %r4, [%rd3];
  cvt.u32.u64 %r5, %rd2;
  mad.lo.u32 %r4, %r4, 3, %r5;
  st.global.u32 [%rd3], %r4;
  ret;)";

class PreparedLaunches : public KernelRunner {
 protected:
  static constexpr u32 blocks = 500, threads = 64;
  static constexpr unsigned length = 100;

  // A launch of the row, which prepares the one behind it.
  struct Link final : Dependents {
    PreparedLaunches& row;
    const unsigned number;
    Launch launch;
    std::unique_ptr<PreparedLaunch> prepared;
    explicit Link(PreparedLaunches& row, unsigned number) : row(row), number(number) {
      launch.kernel = (number % 2 == 0 ? row.program : row.other)->kernel("k");
      launch.grid = {blocks, 1, 1};
      launch.block = {threads, 1, 1};
      launch.clock = &row.clock;
      const u64 arguments[] = {number == row.faulty ? 8 : row.words, number,
                               row.times + number * 8};
      launch.parameters.resize(sizeof arguments);
      std::memcpy(launch.parameters.data(), arguments, sizeof arguments);
    }
    void requested() override {}
    void may_begin() override {}
    NextLaunch* prepare_next() override {
      if (number + 1 == length) return nullptr;
      if (number == row.without_memory) throw std::bad_alloc();
      row.next = std::make_unique<Link>(row, number + 1);
      auto& prepared = row.next->prepared;
      prepared =
          std::make_unique<PreparedLaunch>(row.next->launch, row.limits, row.options, row.print);
      if (prepared->prepare())
        ++row.prepared;
      else
        prepared.reset();
      return prepared.get();
    }
  };

  // Runs the row until a launch fails. Returns the number of that one.
  unsigned run_row() {
    for (unsigned n = 0; n < length; ++n) {
      auto link = next ? std::move(next) : std::make_unique<Link>(*this, n);
      EXPECT_EQ(link->number, n);
      link->launch.dependents = link.get();
      const Outcome outcome = link->prepared ? link->prepared->run()
                                             : machine::run(link->launch, limits, options, print);
      if (!outcome.ok()) return n;
    }
    return length;
  }

  static constexpr unsigned none = ~0u;
  const Program* program = link(entry(3, step));
  const Program* other = program;  // of launches with odd numbers
  std::function<void(std::string_view)> print = [](std::string_view) {};
  std::atomic<u64> clock{first_cycle};
  u64 words = upload(std::vector<u32>(blocks * threads, 1)),
      times = upload(std::vector<u64>(length));
  unsigned faulty = none, without_memory = none, prepared = 0;
  std::unique_ptr<Link> next;

  void reset() { std::fill_n(reinterpret_cast<u32*>(words), blocks * threads, 1); }
  void expect_done(unsigned launches) {
    u32 word = 1;
    for (unsigned n = 0; n < launches; ++n) word = word * 3 + n;
    EXPECT_EQ(download<u32>(words, blocks * threads), std::vector<u32>(blocks * threads, word));
  }
};

TEST_F(PreparedLaunches, RunInOrder) {
  for (const unsigned workers : {1u, 2u, 7u}) {
    options.workers = workers;
    prepared = 0;
    reset();
    ASSERT_EQ(run_row(), length);
    EXPECT_EQ(prepared, workers == 1 ? 0 : length - 1);
    expect_done(length);
  }
}

TEST_F(PreparedLaunches, RunInOrderWhereOneCannotBePrepared) {
  options.workers = 2;
  without_memory = 50;
  ASSERT_EQ(run_row(), length);
  EXPECT_EQ(prepared, length - 2);
  expect_done(length);
}

// It may launch kernels, which end first.
TEST_F(PreparedLaunches, AreNoneBehindAKernelWithCalls) {
  options.workers = 2;
  program = link(".func f() { ret; }\n" + entry(3, std::string("call f;\n") + step));
  ASSERT_EQ(run_row(), length);
  EXPECT_EQ(prepared, 0u);
  expect_done(length);
}

struct Row final : PreparedLaunches {
  void TestBody() override {}
  void run() {
    options.workers = 2;
    EXPECT_EQ(run_row(), length);
    expect_done(length);
  }
};

TEST(PreparedRows, RunAtTheSameTime) {
  Row rows[3];
  std::vector<std::thread> threads;
  for (Row& each : rows) threads.emplace_back([&] { each.run(); });
  for (std::thread& each : threads) each.join();
}

TEST_F(PreparedLaunches, BeginAfterTheEndOfTheOneInFrontByTheDevicesClock) {
  options.workers = 2;
  ASSERT_EQ(run_row(), length);
  const auto time = download<u64>(times, length);
  for (unsigned n = 1; n < length; ++n) ASSERT_GT(time[n], time[n - 1]);
  EXPECT_GT(clock, time.back());
}

TEST_F(PreparedLaunches, DoNotBeginBehindAFault) {
  options.workers = 2;
  for (faulty = 1; faulty < 40; ++faulty) {
    reset();
    ASSERT_EQ(run_row(), faulty);
    next.reset();
    expect_done(faulty);
  }
}

// As after a fault in another stream.
TEST_F(PreparedLaunches, EndWhenTheyAreDropped) {
  options.workers = 2;
  for (int n = 0; n < 40; ++n) {
    Link first(*this, 0), alone(*this, 0);
    first.launch.dependents = &first;
    ASSERT_TRUE(machine::run(first.launch, limits, options, print).ok());
    ASSERT_TRUE(next->prepared);
    next.reset();
    reset();
    ASSERT_TRUE(machine::run(alone.launch, limits, options, print).ok());
    expect_done(1);
  }
}

}  // namespace
}  // namespace inflight::machine
