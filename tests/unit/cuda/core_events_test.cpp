// The host events that a listener gets: the order of completed work in streams, and memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/calls/pools.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/modules/module.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/work/work.hpp"
#include "tests/unit/check/enumerators.hpp"
#include "tests/unit/cuda/core_calls.hpp"

namespace inflight::cuda {
namespace {

using Lines = std::vector<std::string>;

// Streams are named by their first appearance: 'a', 'b' ...
class HostLog : public check::Listener {
 public:
  check::Topic topics() const override { return check::Topic::host | check::Topic::allocations; }
  void stream_edge(const check::StreamEdge& e) override {
    using Kind = check::StreamEdge::Kind;
    const std::lock_guard lock(mutex_);
    std::string line = fmt::format("{} {}{}", spaced(e.kind), name(e.stream), e.work);
    if (e.kind == Kind::step || e.kind == Kind::step_after) line += fmt::format(" {}", e.other);
    if (e.kind == Kind::value_write || e.kind == Kind::value_wait)
      line += fmt::format(" of value {}", e.other - origin);
    if (e.kind == Kind::created) line += e.blocking ? " blocking" : " non-blocking";
    if (e.programmatic) line += " programmatic";
    if (e.dependent) line += " dependent";
    if (e.device != 0) line += fmt::format(" of device {}", e.device);
    if (e.kind == Kind::after) line += fmt::format(" {}{}", name(e.other), e.other_work);
    lines_.push_back(line);
  }
  void host_accessed(const check::HostAccess& e) override {
    const std::lock_guard lock(mutex_);
    lines_.push_back(fmt::format("{} {}{} {} bytes{}{}",
                                 e.kind == check::HostAccess::Kind::set ? "set" : "copy",
                                 name(e.stream), e.work, e.bytes * e.rows,
                                 e.source ? " with source" : "", e.asynchronous ? "" : " awaited"));
  }
  void allocation(const check::Allocation& e) override {
    const std::lock_guard lock(mutex_);
    std::string line =
        fmt::format("{} {} {}", check::name_of(e.kind), check::name_of(e.step), e.bytes);
    if (!e.name.empty()) line += fmt::format(" named {}", e.name);
    if (e.ordered) line += fmt::format(" in {}", name(e.stream));
    if (e.fresh) line += " fresh";
    lines_.push_back(line);
  }
  Lines lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  // True if the lines occur in this order, perhaps with others between.
  bool in_order(const Lines& wanted) const {
    const Lines all = lines();
    auto at = all.begin();
    for (const std::string& line : wanted)
      if ((at = std::find(at, all.end(), line)) == all.end()) return false;
    return true;
  }

  std::uint64_t origin = 0;  // of addresses of values

 private:
  static std::string spaced(check::StreamEdge::Kind kind) {
    std::string name(check::name_of(kind));
    std::ranges::replace(name, '_', ' ');
    return name;
  }
  char name(std::uint64_t stream) {
    return static_cast<char>('a' + names_.try_emplace(stream, names_.size()).first->second);
  }
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::size_t> names_;
  Lines lines_;
};

class HostEvents : public testing::Test {
 protected:
  void SetUp() override {
    // Creates the process's lazy state first, which is not part of the test.
    Core::get().device(0).legacy()->synchronize();
    observe_with(&log);
  }
  void TearDown() override { observe_with(nullptr); }
  std::string heard() const { return fmt::format("{}", fmt::join(log.lines(), "\n")); }
  Device& device = Core::get().device(0);
  HostLog log;
};

TEST_F(HostEvents, WorkIsToldWhenItIsSubmittedAndWhenItIsDone) {
  auto stream = device.create_stream(true, 0);
  void* memory = nullptr;
  ASSERT_EQ(allocate_device(&memory, 64), Status::success);
  Fill fill{.to = memory, .value = 7, .element = 1, .width = 64, .pitch = 64};
  ASSERT_EQ(submit(*stream, fill), Status::success);
  static int calls = 0;
  ASSERT_EQ(submit(*stream, HostWork{[](void*) { ++calls; }, nullptr}), Status::success);
  ASSERT_EQ(synchronize(*stream), Status::success);
  ASSERT_EQ(free_memory(memory), Status::success);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(log.in_order({"device made 64 fresh", "submitted a1", "begun a1", "set a1 64 bytes",
                            "ended a1", "begun a2", "host function a2", "ended a2",
                            "stream sync a2", "device released 64 fresh"}))
      << heard();
  EXPECT_TRUE(log.in_order({"submitted a1", "submitted a2", "begun a2"})) << heard();
}

TEST_F(HostEvents, CopiesAreToldAsTheyAreDone) {
  auto stream = device.create_stream(true, 0);
  void *memory = nullptr, *pinned = nullptr;
  ASSERT_EQ(allocate_device(&memory, 64), Status::success);
  ASSERT_EQ(allocate_pinned(&pinned, 64, 0), Status::success);
  char plain[64] = {};
  ASSERT_EQ(copy(*stream, linear(memory, pinned, 64, Direction::by_address), true),
            Status::success);
  ASSERT_EQ(copy(*stream, linear(memory, plain, 32, Direction::by_address), true), Status::success);
  ASSERT_EQ(copy(*stream, linear(plain, memory, 16, Direction::by_address), false),
            Status::success);
  EXPECT_TRUE(log.in_order({"device made 64 fresh", "host made 64", "begun a1",
                            "copy a1 64 bytes with source", "ended a1", "begun a2",
                            "copy a2 32 bytes", "ended a2", "begun a3",
                            "copy a3 16 bytes with source awaited", "ended a3", "stream sync a3"}))
      << heard();
  ASSERT_EQ(free_pinned(pinned), Status::success);
  ASSERT_EQ(free_memory(memory), Status::success);
  EXPECT_TRUE(log.in_order({"host made 64", "host released 64", "device released 64 fresh"}))
      << heard();
}

TEST_F(HostEvents, AnEventOrdersOneStreamAfterAnother) {
  auto first = device.create_stream(true, 0), second = device.create_stream(true, 0);
  void* handle = nullptr;
  ASSERT_EQ(create_event(&handle, 0), Status::success);
  auto event = *event_of(handle);
  ASSERT_EQ(record_event(*first, event, 0), Status::success);
  first->synchronize();  // already complete: the edge is still reported
  ASSERT_EQ(wait_event(*second, event, 0), Status::success);
  second->synchronize();
  ASSERT_EQ(synchronize(*event), Status::success);
  EXPECT_TRUE(log.in_order({"submitted a1", "event record a1", "stream sync a1", "submitted b1",
                            "stream sync b1", "event sync a1"}))
      << heard();
  EXPECT_TRUE(log.in_order({"submitted b1", "after b1 a1", "begun b1", "ended b1"})) << heard();
  EXPECT_TRUE(log.in_order({"submitted b1", "event wait b1"})) << heard();
  ASSERT_EQ(destroy_event(handle), Status::success);
}

TEST_F(HostEvents, TheNullStreamOrdersWithBlockingStreams) {
  auto blocking = device.create_stream(false, 0);
  const Ticket before = device.legacy()->last();
  blocking->submit([] {});
  blocking->synchronize();
  device.legacy()->run([] {});
  device.synchronize();
  const Lines lines = log.lines();
  EXPECT_THAT(lines, testing::Contains("submitted a1"));
  EXPECT_THAT(lines, testing::Contains(fmt::format("after b{} a1", before.number + 1))) << heard();
  EXPECT_THAT(lines, testing::Contains("device sync b0")) << heard();
}

TEST_F(HostEvents, OrderedMemoryIsToldInItsStreamsOrder) {
  auto stream = device.create_stream(true, 0);
  void* memory = nullptr;
  ASSERT_EQ(allocate_ordered(&memory, 96, current_pool(PoolPlace{}), *stream), Status::success);
  ASSERT_EQ(free_ordered(memory, *stream), Status::success);
  stream->synchronize();
  EXPECT_TRUE(log.in_order({"device made 96 fresh", "begun a1", "pool made 96 in a", "ended a1",
                            "begun a2", "pool released 96 in a", "device released 96 fresh",
                            "ended a2", "stream sync a2"}))
      << heard();
}

TEST_F(HostEvents, StreamsAreToldWhenAProgramMakesAndDestroysThem) {
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(create_stream(&first, 0, 0), Status::success);
  ASSERT_EQ(create_stream(&second, 1, 0), Status::success);
  ASSERT_EQ(destroy_stream(first), Status::success);
  ASSERT_EQ(destroy_stream(second), Status::success);
  EXPECT_EQ(log.lines(), (Lines{"created a0 blocking", "created b0 non-blocking", "destroyed a0",
                                "destroyed b0"}));
}

TEST_F(HostEvents, LaunchesAreToldInTheirWork) {
  const auto module = *LoadedModule::from_memory(module_text);
  auto stream = device.create_stream(true, 0);
  ASSERT_EQ(submit(*stream, kernel_of(*module)), Status::success);
  KernelWork programmatic = kernel_of(*module);
  programmatic.programmatic = true;
  ASSERT_EQ(submit(*stream, programmatic), Status::success);
  ASSERT_EQ(synchronize(*stream), Status::success);
  EXPECT_TRUE(log.in_order({"submitted a1", "begun a1", "launch a1", "ended a1", "begun a2",
                            "launch a2 programmatic", "ended a2", "stream sync a2"}))
      << heard();
}

TEST_F(HostEvents, StepsOfAGraphAreToldWithWhatTheyComeAfter) {
  const auto module = *LoadedModule::from_memory(module_text);
  Graph graph;
  Node* const first = *graph.add(kernel_of(*module), {});
  Node* const second = *graph.add(kernel_of(*module), {});
  Node* const third = *graph.add(HostWork{[](void*) {}, nullptr}, {first, second});
  ASSERT_EQ(graph.connect(first, second, programmatic_edge), Status::success);
  ASSERT_NE(third, nullptr);
  auto exec = *GraphExec::make(graph, 0);
  auto stream = device.create_stream(true, 0);
  ASSERT_EQ(exec->launch(stream), Status::success);
  ASSERT_EQ(synchronize(*stream), Status::success);
  EXPECT_TRUE(log.in_order({"begun a1", "step a1 1", "launch a1", "step a1 2",
                            "step after a1 1 dependent", "launch a1 programmatic", "step a1 3",
                            "step after a1 1", "host function a1", "ended a1"}))
      << heard();
  EXPECT_TRUE(log.in_order({"step a1 3", "step after a1 2", "host function a1"})) << heard();
}

TEST_F(HostEvents, ValuesAreToldWhenTheyAreWrittenAndWhenTheyHaveComeTrue) {
  auto first = device.create_stream(true, 0), second = device.create_stream(true, 0);
  void* memory = nullptr;
  ASSERT_EQ(allocate_device(&memory, 64), Status::success);
  log.origin = address_of(memory);
  ASSERT_EQ(submit(*first, value_work(ValueOperation::wait_32, log.origin + 8, 1)),
            Status::success);
  ASSERT_EQ(submit(*second, value_work(ValueOperation::write_32, log.origin + 8, 1)),
            Status::success);
  ASSERT_EQ(synchronize(*first), Status::success);
  ASSERT_EQ(synchronize(*second), Status::success);
  EXPECT_TRUE(log.in_order({"begun b1", "value write b1 of value 8", "value wait a1 of value 8",
                            "ended a1", "stream sync a1"}))
      << heard();
  ASSERT_EQ(free_memory(memory), Status::success);
}

TEST_F(HostEvents, MemoryOfEveryKindIsToldWithItsName) {
  void *managed = nullptr, *pinned = nullptr;
  alignas(4096) static std::byte own[4096];
  ASSERT_EQ(allocate_managed(&managed, 48, 1), Status::success);
  ASSERT_EQ(allocate_pinned(&pinned, 80, 0), Status::success);
  ASSERT_EQ(register_pinned(own, sizeof own, 0), Status::success);
  ASSERT_EQ(unregister_pinned(own), Status::success);
  ASSERT_EQ(free_pinned(pinned), Status::success);
  ASSERT_EQ(free_memory(managed), Status::success);
  EXPECT_TRUE(log.in_order({"managed made 48 fresh", "host made 80", "host made 4096",
                            "host released 4096", "host released 80", "managed released 48 fresh"}))
      << heard();
  const auto module = *LoadedModule::from_memory(module_text);
  ASSERT_TRUE(module->on(0));
  module->drop(0);
  for (const char* kind : {"variable made 64 named table", "constant made 16 named limits",
                           "variable released 64 named table", "constant released 16 named limits"})
    EXPECT_THAT(log.lines(), testing::Contains(testing::StartsWith(kind))) << heard();
}

}  // namespace
}  // namespace inflight::cuda
