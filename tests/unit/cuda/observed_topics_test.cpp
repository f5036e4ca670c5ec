// A listener to the host's events is asked once for its topics, and gets the events of these alone.
#include <gtest/gtest.h>

#include <atomic>

#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/work/work.hpp"

namespace inflight::cuda {
namespace {

class Counted : public check::Listener {
 public:
  explicit Counted(check::Topic topics) : topics_(topics) {}
  check::Topic topics() const override {
    ++asked;
    return topics_;
  }
  void stream_edge(const check::StreamEdge&) override { ++edges; }
  void host_accessed(const check::HostAccess&) override { ++accesses; }
  void allocation(const check::Allocation&) override { ++allocations; }
  mutable std::atomic<unsigned> asked{0};
  std::atomic<unsigned> edges{0}, accesses{0}, allocations{0};

 private:
  const check::Topic topics_;
};

constexpr unsigned times = 10;

void fill_with(Counted& listener) {
  Device& device = Core::get().device(0);
  device.legacy()->synchronize();  // creates the process's lazy state
  observe_with(&listener);
  auto stream = device.create_stream(true, 0);
  for (unsigned i = 0; i < times; ++i) {
    void* memory = nullptr;
    ASSERT_EQ(allocate_device(&memory, 64), Status::success);
    Fill fill{.to = memory, .value = 7, .element = 1, .width = 64, .pitch = 64};
    ASSERT_EQ(submit(*stream, fill), Status::success);
    ASSERT_EQ(synchronize(*stream), Status::success);
    ASSERT_EQ(free_memory(memory), Status::success);
  }
  observe_with(nullptr);
}

TEST(ObservedTopics, AreAskedForOnce) {
  Counted host(check::Topic::host);
  fill_with(host);
  EXPECT_GE(host.edges, 4 * times) << "submitted, begun, ended, synchronised";
  EXPECT_EQ(host.accesses, times);
  EXPECT_EQ(host.allocations, 0u);
  EXPECT_EQ(host.asked, 1u);
  Counted memory(check::Topic::allocations);
  fill_with(memory);
  EXPECT_EQ(memory.edges, 0u);
  EXPECT_EQ(memory.accesses, 0u);
  EXPECT_EQ(memory.allocations, 2 * times);
  EXPECT_EQ(memory.asked, 1u);
}

// Else a listener would look at every row.
TEST(ObservedTopics, HaveNoEmptyFill) {
  Counted host(check::Topic::host);
  Device& device = Core::get().device(0);
  auto stream = device.create_stream(true, 0);
  void* memory = nullptr;
  ASSERT_EQ(allocate_device(&memory, 64), Status::success);
  observe_with(&host);
  const Fill fill{
      .to = memory, .value = 7, .element = 1, .width = 0, .height = 1ull << 40, .pitch = 64};
  EXPECT_EQ(submit(*stream, fill), Status::success);
  EXPECT_EQ(synchronize(*stream), Status::success);
  observe_with(nullptr);
  EXPECT_EQ(host.accesses, 0u);
  EXPECT_EQ(free_memory(memory), Status::success);
}

}  // namespace
}  // namespace inflight::cuda
