// Streams and events: order within a stream, independence between streams, the legacy rule.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/queue/event.hpp"

namespace inflight::cuda {
namespace {

using namespace std::chrono_literals;

class Streams : public testing::Test {
 protected:
  Device& device = Core::get().device(0);
  std::shared_ptr<Stream> make(bool non_blocking) { return device.create_stream(non_blocking, 0); }
};

// A task that blocks its stream until it is released.
struct Gate {
  std::promise<void> opened;
  std::shared_future<void> open{opened.get_future()};
  Task task() {
    return [open = open] { open.wait(); };
  }
};

TEST_F(Streams, DoTheirTasksInOrder) {
  auto stream = make(true);
  std::vector<int> done;
  for (int i = 0; i < 1000; ++i) stream->submit([&done, i] { done.push_back(i); });
  stream->synchronize();
  ASSERT_EQ(done.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(done[i], i);
}

TEST_F(Streams, AreFullAtSomeLength) {
  auto stream = make(true);
  Gate gate;
  stream->submit(gate.task());
  constexpr int many = 5000;
  std::atomic<int> submitted{0}, done{0};
  std::thread host([&] {
    for (; submitted < many; ++submitted) stream->submit([&] { ++done; });
  });
  for (int before = -1; before != submitted; std::this_thread::sleep_for(50ms)) before = submitted;
  EXPECT_GE(submitted, 1000);
  EXPECT_LE(submitted, 1100);
  gate.opened.set_value();
  host.join();
  stream->synchronize();
  EXPECT_EQ(done, many);
}

TEST_F(Streams, AreNeverFullToTheirOwnTasks) {
  auto stream = make(true);
  std::atomic<int> done{0};
  Ticket outer = stream->submit([&] {
    for (int i = 0; i < 2000; ++i) stream->submit([&] { ++done; });
  });
  outer.wait();
  stream->synchronize();
  EXPECT_EQ(done, 2000);
}

TEST_F(Streams, FullOnesHoldUpNoOther) {
  auto full = make(true), free = make(true);
  Gate gate;
  full->submit(gate.task());
  std::thread host([&] {
    for (int i = 0; i < 2000; ++i) full->submit([] {});
  });
  std::atomic<int> done{0};
  for (int i = 0; i < 100; ++i) free->submit([&] { ++done; });
  free->synchronize();
  EXPECT_EQ(done, 100);
  gate.opened.set_value();
  host.join();
  full->synchronize();
}

TEST_F(Streams, RunBesideEachOther) {
  auto held = make(true), free = make(true);
  Gate gate;
  held->submit(gate.task());
  std::atomic<bool> ran{false};
  free->submit([&] { ran = true; });
  free->synchronize();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(held->idle());
  gate.opened.set_value();
  held->synchronize();
  EXPECT_TRUE(held->idle());
}

TEST_F(Streams, LegacyWaitsForBlockingStreamsOnly) {
  auto blocking = make(false), other = make(true);
  Gate first, second;
  blocking->submit(first.task());
  other->submit(second.task());
  std::atomic<bool> ran{false};
  Ticket legacy = device.legacy()->submit([&] { ran = true; });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(ran) << "the legacy stream did not wait for a blocking stream";
  first.opened.set_value();
  legacy.wait();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(other->idle());
  second.opened.set_value();
  other->synchronize();
}

TEST_F(Streams, BlockingStreamsWaitForLegacy) {
  auto blocking = make(false), other = make(true);
  Gate gate;
  device.legacy()->submit(gate.task());
  std::atomic<int> ran{0};
  Ticket waits = blocking->submit([&] { ran += 1; });
  other->submit([&] { ran += 10; });
  other->synchronize();
  EXPECT_EQ(ran, 10);
  gate.opened.set_value();
  waits.wait();
  EXPECT_EQ(ran, 11);
}

// A GPU records an event before the host can notice that the work before it is complete.
TEST_F(Streams, RecordingsAreDoneWithTheWorkInFrontOfThem) {
  auto blocking = make(false), other = make(true);
  for (int round = 0; round < 300; ++round) {
    Event event(device, true, false), behind(device, true, false);
    Gate gate;
    blocking->submit(gate.task());
    const Ticket recorded = event.record(*device.legacy());
    other->mark([] {}, {recorded});
    behind.record(*other);
    EXPECT_FALSE(event.done());
    EXPECT_FALSE(behind.done());
    EXPECT_EQ(elapsed(event, behind).error().status, Status::not_ready);
    gate.opened.set_value();
    blocking->synchronize();
    ASSERT_TRUE(event.done());
    ASSERT_TRUE(behind.done());
    ASSERT_TRUE(elapsed(event, behind));
    ASSERT_TRUE(other->settle(other->last().number));
  }
}

TEST_F(Streams, WorkThatIsNoMarkIsNotSettled) {
  auto stream = make(true);
  Event before(device, true, false), after(device, true, false);
  Gate gate;
  before.record(*stream);
  stream->submit(gate.task());
  after.record(*stream);
  EXPECT_TRUE(before.done());
  EXPECT_FALSE(after.done());
  EXPECT_FALSE(stream->settle(stream->last().number));
  gate.opened.set_value();
  stream->synchronize();
  EXPECT_TRUE(after.done());
}

TEST_F(Streams, DestroyedStreamsFinishTheirWork) {
  std::promise<void> done;
  Gate gate;
  {
    auto stream = make(true);
    stream->submit(gate.task());
    stream->submit([&] { done.set_value(); });
  }
  gate.opened.set_value();
  EXPECT_EQ(done.get_future().wait_for(10s), std::future_status::ready);
}

TEST_F(Streams, RunKeepsTheOrderOfWhatIsQueued) {
  auto stream = make(true);
  std::vector<int> done;
  stream->submit([&] {
    std::this_thread::sleep_for(5ms);
    done.push_back(1);
  });
  stream->run([&] { done.push_back(2); });
  stream->run([&] { done.push_back(3); });  // idle now: on this thread
  stream->submit([&] { done.push_back(4); });
  stream->synchronize();
  EXPECT_EQ(done, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(Streams, PerThreadStreamsDiffer) {
  auto mine = device.per_thread();
  EXPECT_EQ(mine, device.per_thread());
  std::shared_ptr<Stream> other;
  std::thread([&] { other = device.per_thread(); }).join();
  EXPECT_NE(mine, other);
}

TEST_F(Streams, HandlesStandForDefaultStreams) {
  EXPECT_EQ(stream_of(nullptr).value(), device.legacy());
  EXPECT_EQ(stream_of(nullptr, true).value(), device.per_thread());
  EXPECT_EQ(stream_of(reinterpret_cast<void*>(1), true).value(), device.legacy());
  EXPECT_EQ(stream_of(reinterpret_cast<void*>(2)).value(), device.per_thread());
  int no_stream = 0;
  EXPECT_EQ(stream_of(&no_stream).error().status, Status::invalid_handle);
}

TEST_F(Streams, EventsMarkAPlaceInAStream) {
  auto stream = make(true);
  auto start = std::make_shared<Event>(device, true, false);
  auto end = std::make_shared<Event>(device, true, false);
  EXPECT_TRUE(end->done()) << "an event that was never recorded is complete";
  EXPECT_EQ(elapsed(*start, *end).error().status, Status::invalid_handle);
  Gate gate;
  start->record(*stream);
  stream->submit(gate.task());
  end->record(*stream);
  EXPECT_FALSE(end->done());
  EXPECT_EQ(elapsed(*start, *end).error().status, Status::not_ready);
  std::this_thread::sleep_for(20ms);
  gate.opened.set_value();
  end->synchronize();
  EXPECT_GE(elapsed(*start, *end).value(), 15.0f);
}

TEST_F(Streams, ManyThreadsMaySubmitAtOnce) {
  auto stream = make(false);
  std::atomic<int> inside{0}, done{0};
  std::atomic<bool> overlapped{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto task = [&] {
          if (++inside != 1) overlapped = true;
          ++done;
          --inside;
        };
        if (i % 3 == 0)
          stream->run(task);
        else
          stream->submit(task);
      }
    });
  for (auto& thread : threads) thread.join();
  stream->synchronize();
  EXPECT_EQ(done, 800);
  EXPECT_FALSE(overlapped);
}

}  // namespace
}  // namespace inflight::cuda
