// Some call here emits every value of every kind of event of the host.
#include <gmock/gmock.h>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/calls/pools.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "tests/unit/check/event_census.hpp"
#include "tests/unit/cuda/core_calls.hpp"

namespace inflight::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EveryValueOfTheHost : public testing::Test {
 protected:
  void SetUp() override { observe_with(&census); }
  void TearDown() override { observe_with(nullptr); }
  std::shared_ptr<Stream> stream() {
    void* handle = nullptr;
    EXPECT_EQ(create_stream(&handle, 0, 0), Status::success);
    return Core::get().streams.find(handle);
  }
  void ok(Status status) { EXPECT_EQ(status, Status::success); }
  check::EventCensus census;
};

TEST_F(EveryValueOfTheHost, IsEmittedByARealCall) {
  const auto first = stream(), second = stream();
  void *memory = nullptr, *ordered = nullptr, *managed = nullptr, *pinned = nullptr,
       *event = nullptr, *gone = nullptr;
  ok(create_stream(&gone, 0, 0));
  ok(destroy_stream(gone));

  ok(allocate_device(&memory, 64));
  ok(allocate_managed(&managed, 64, 1));
  ok(allocate_pinned(&pinned, 64, 0));
  ok(allocate_ordered(&ordered, 64, current_pool(PoolPlace{}), *first));
  ok(free_ordered(ordered, *first));
  ok(submit(*first, Fill{.to = memory, .value = 7, .element = 1, .width = 64, .pitch = 64}));
  ok(copy(*first, linear(memory, pinned, 64, Direction::by_address), true));

  const auto module = *LoadedModule::from_memory(module_text);
  Graph graph;
  Node* const node = *graph.add(kernel_of(*module), {});
  EXPECT_TRUE(graph.add(HostWork{[](void*) {}, nullptr}, {node}));
  const auto exec = *GraphExec::make(graph, 0);
  ok(exec->launch(first));
  ok(create_event(&event, 0));
  ok(record_event(*first, event, 0));
  ok(wait_event(*second, event, 0));
  ok(submit(*second, value_work(ValueOperation::write_32, address_of(memory), 1)));
  ok(submit(*second, value_work(ValueOperation::wait_32, address_of(memory), 1)));
  ok(synchronize(**event_of(event)));
  ok(synchronize(*second));
  Core::get().device(0).synchronize();

  EXPECT_THAT(census.missing("StreamEdge"), IsEmpty());
  EXPECT_THAT(census.missing("HostAccess"), IsEmpty());
  // A kernel reports its own heap: tests/unit/machine/every_value_test.cpp.
  EXPECT_THAT(census.missing("Allocation.kind"), ElementsAre("Allocation.kind heap"));
  EXPECT_THAT(census.missing("Allocation.step"), IsEmpty());

  ok(destroy_event(event));
  ok(free_memory(memory));
  ok(free_memory(managed));
  ok(free_pinned(pinned));
}

}  // namespace
}  // namespace inflight::cuda
