// Host events that threads synchronise by are reported in the order in which they happen.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/work/value_operations.hpp"
#include "gpu/cuda/core/work/work.hpp"
#include "gpu/machine/memory/strong_order.hpp"

namespace inflight::cuda {
namespace {

using Kind = check::StreamEdge::Kind;

class Listening : public check::Listener {
 public:
  explicit Listening(std::function<void(Kind)> on_edge) : on_edge_(std::move(on_edge)) {
    Core::get().device(0).legacy()->synchronize();  // creates the process's lazy state
    observe_with(this);
  }
  ~Listening() override { observe_with(nullptr); }
  check::Topic topics() const override { return check::Topic::host; }
  void stream_edge(const check::StreamEdge& edge) override { on_edge_(edge.kind); }

 private:
  const std::function<void(Kind)> on_edge_;
};

// A kernel's store is performed and reported under strong_order(). A stream that waits for the
// value may see it between the two.
TEST(EventOrder, AWaitForAValueIsToldAfterTheStoreThatItSaw) {
  std::mutex mutex;
  std::vector<std::string> told;
  const auto tell = [&](std::string what) {
    const std::lock_guard lock(mutex);
    told.push_back(std::move(what));
  };
  const Listening listener([&](Kind kind) {
    if (kind == Kind::value_wait) tell("wait");
  });
  Device& device = Core::get().device(0);
  void* memory = nullptr;
  ASSERT_EQ(allocate_device(&memory, 64), Status::success);
  auto& word = *static_cast<std::uint32_t*>(memory);
  std::atomic_ref(word).store(0);
  auto stream = device.create_stream(true, 0);
  ValueOperation wait{.kind = ValueOperation::wait_32};
  wait.memory = reinterpret_cast<std::uint64_t>(memory), wait.value = 1;
  ASSERT_EQ(submit(*stream, ValueWork{{wait}}), Status::success);
  {
    const std::lock_guard lock(machine::strong_order());
    std::atomic_ref(word).store(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    tell("store");
  }
  ASSERT_EQ(synchronize(*stream), Status::success);
  EXPECT_EQ(told, (std::vector<std::string>{"store", "wait"}));
  ASSERT_EQ(free_memory(memory), Status::success);
}

TEST(EventOrder, ARecordIsToldBeforeOthersCanSeeIt) {
  void* handle = nullptr;
  ASSERT_EQ(create_event(&handle, 0), Status::success);
  const auto event = *event_of(handle);
  unsigned records = 0;
  bool seen = false;
  const Listening listener([&](Kind kind) {
    if (kind != Kind::event_record) return;
    ++records;
    seen = event->latest() != nullptr;
  });
  auto stream = Core::get().device(0).create_stream(true, 0);
  ASSERT_EQ(submit(*stream, RecordWork{event}), Status::success);
  ASSERT_EQ(synchronize(*stream), Status::success);
  EXPECT_EQ(records, 1u);
  EXPECT_FALSE(seen);
  EXPECT_NE(event->latest(), nullptr);
  ASSERT_EQ(destroy_event(handle), Status::success);
}

}  // namespace
}  // namespace inflight::cuda
