// The devices' memory as the program's host code sees it.
#include "gpu/machine/memory/host_view.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "gpu/machine/memory/memory.hpp"

namespace inflight::machine {
namespace {

// A system call says whether the process can access a byte.
bool is_accessible(std::uint64_t address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool written = write(ends[1], reinterpret_cast<const void*>(address), 1) == 1;
  close(ends[0]), close(ends[1]);
  return written;
}

std::uint64_t make(Memory& memory, AllocationKind kind = AllocationKind::device,
                   std::uint64_t bytes = 4096) {
  return memory.allocate(0, bytes, kind).value();
}

TEST(HostView, IsOpenUntilItIsClosed) {
  Memory memory(1, 1 << 30);
  const std::uint64_t at = make(memory);
  EXPECT_TRUE(is_accessible(at));
  memory.host_view().close(HostView::Effort::full);
  EXPECT_FALSE(is_accessible(at));
  EXPECT_FALSE(memory.host_view().is_open());
}

TEST(HostView, OpensWhileSomebodyAccesses) {
  Memory memory(1, 1 << 30);
  memory.host_view().close(HostView::Effort::full);
  const std::uint64_t at = make(memory);
  EXPECT_FALSE(is_accessible(at));
  {
    const HostView::Access outer(memory.host_view());
    { const HostView::Access inner(memory.host_view()); }
    EXPECT_TRUE(is_accessible(at));
    EXPECT_TRUE(is_accessible(make(memory, AllocationKind::device, 200 << 20)));
  }
  EXPECT_FALSE(is_accessible(at));
}

TEST(HostView, LeavesMemoryThatTheHostShares) {
  Memory memory(2, 1 << 30);
  memory.host_view().close(HostView::Effort::full);
  const std::uint64_t managed = make(memory, AllocationKind::managed);
  EXPECT_TRUE(is_accessible(managed));
  EXPECT_FALSE(memory.host_view().holds(managed));
  const std::uint64_t other = memory.allocate(1, 256, AllocationKind::device).value();
  EXPECT_FALSE(is_accessible(other));
  EXPECT_TRUE(memory.host_view().holds(other));
}

TEST(HostView, KeepsBytesOfClosedMemory) {
  Memory memory(1, 1 << 30);
  memory.host_view().close(HostView::Effort::full);
  const std::uint64_t at = make(memory);
  {
    const HostView::Access access(memory.host_view());
    std::memset(reinterpret_cast<void*>(at), 7, 4096);
  }
  ASSERT_TRUE(memory.share(at));  // moves its pages
  EXPECT_FALSE(is_accessible(at));
  const std::uint64_t large = make(memory, AllocationKind::device, 8 << 20);
  memory.clear(large);
  memory.release(large);
  const HostView::Access access(memory.host_view());
  EXPECT_EQ(*reinterpret_cast<const unsigned char*>(at + 4095), 7);
}

TEST(HostView, StaysOpenForAFaultUntilAnAccessEnds) {
  Memory memory(1, 1 << 30);
  HostView& view = memory.host_view();
  view.close(HostView::Effort::full);
  const std::uint64_t at = make(memory);
  EXPECT_TRUE(view.open());
  EXPECT_TRUE(is_accessible(at));
  { const HostView::Access access(view); }
  EXPECT_FALSE(is_accessible(at));
}

// Threads whose accesses begin and end at any time never find closed memory.
TEST(HostView, IsOpenForEachOfManyThreads) {
  Memory memory(1, 1 << 30);
  memory.host_view().close(HostView::Effort::full);
  auto* const counters = reinterpret_cast<std::atomic<int>*>(make(memory));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const HostView::Access access(memory.host_view());
        ++counters[i % 16];
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_FALSE(memory.host_view().is_open());
  const HostView::Access access(memory.host_view());
  int all = 0;
  for (int i = 0; i < 16; ++i) all += counters[i];
  EXPECT_EQ(all, 8000);
}

// It stops closing pages once that has taken too much of the time.
TEST(HostView, SparesTime) {
  Memory memory(1, 1 << 30);
  memory.host_view().close(HostView::Effort::sparing);
  make(memory);
  EXPECT_FALSE(memory.host_view().is_open());
  const auto stays_open = [&] {
    { const HostView::Access access(memory.host_view()); }
    return memory.host_view().is_open();
  };
  int closings = 0;
  while (closings < 10'000'000 && !stays_open()) ++closings;
  EXPECT_GT(closings, 0);
  EXPECT_LT(closings, 10'000'000);
}

}  // namespace
}  // namespace inflight::machine
