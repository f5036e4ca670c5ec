// Allocations whose pages move to a file that another process maps.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "gpu/machine/memory/memory.hpp"

namespace inflight::machine {
namespace {

constexpr std::uint64_t page = 4096;

// Another process's view of an allocation's bytes.
class Seen {
 public:
  Seen(Memory::Shared at, std::uint64_t bytes) : bytes_(bytes + at.offset % page) {
    mapped_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, at.file,
                   off_t(at.offset / page * page));
    EXPECT_NE(mapped_, MAP_FAILED);
    base_ = static_cast<std::byte*>(mapped_) + at.offset % page;
  }
  ~Seen() { munmap(mapped_, bytes_); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(base_);
  }

 private:
  std::uint64_t bytes_;
  void* mapped_;
  std::byte* base_;
};

template <class T>
T* at(std::uint64_t address) {
  return reinterpret_cast<T*>(address);
}

TEST(SharedMemory, HoldsWhatTheAllocationHoldsAndTheOtherWayRound) {
  Memory memory(1, 64 << 20);
  const auto before = *memory.allocate(0, 100, AllocationKind::device);
  const auto base = *memory.allocate(0, 3 * page + 40, AllocationKind::device);
  const auto after = *memory.allocate(0, 100, AllocationKind::device);
  std::memset(at<void>(before), 1, 100);
  std::memset(at<void>(base), 2, 3 * page + 40);
  std::memset(at<void>(after), 3, 100);
  const auto shared = memory.share(base + 5000);
  ASSERT_TRUE(shared);
  const Seen seen({shared->file, shared->offset - 5000}, 3 * page + 40);
  EXPECT_EQ(seen.as<char>()[3 * page + 39], 2);
  seen.as<char>()[7] = 42;
  EXPECT_EQ(at<char>(base)[7], 42);
  at<char>(base)[page] = 43;
  EXPECT_EQ(seen.as<char>()[page], 43);
  // Neighbours in the same pages keep their contents, and can be shared too.
  EXPECT_EQ(at<char>(before)[99], 1);
  EXPECT_EQ(at<char>(after)[99], 3);
  const auto next = memory.share(after);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->file, shared->file);
  EXPECT_EQ(*Seen(*next, 100).as<char>(), 3);
  EXPECT_EQ(memory.share(base)->offset, shared->offset - 5000);
}

// ThreadSanitizer cannot know that a store waits for its page. A fault inside its own atomics makes
// it wait for itself.
[[gnu::noinline, gnu::no_sanitize("thread")]] void add_one(unsigned& count) {
  __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
}

TEST(SharedMemory, LosesNothingThatThreadsWriteWhileItMoves) {
  constexpr std::uint64_t words = 1 << 20;
  for (int round = 0; round < 4; ++round) {
    Memory memory(1, 64 << 20);
    const auto base = *memory.allocate(0, words * 4, AllocationKind::device);
    auto* const counts = at<unsigned>(base);
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> added{0};
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        std::uint64_t mine = 0;
        for (std::uint64_t i = t * 7919; !stop; i += 104729, ++mine) add_one(counts[i % words]);
        added += mine;
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto shared = memory.share(base);
    ASSERT_TRUE(shared);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
    for (std::thread& each : threads) each.join();
    const Seen seen(*shared, words * 4);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < words; ++i) sum += seen.as<unsigned>()[i];
    EXPECT_EQ(sum, added);
  }
}

TEST(SharedMemory, IsClearedAndGivenBackAsOtherMemoryIs) {
  constexpr std::uint64_t bytes = 4 << 20;
  Memory memory(1, 64 << 20);
  const auto base = *memory.allocate(0, bytes, AllocationKind::device);
  std::memset(at<void>(base), 9, bytes);
  const auto shared = memory.share(base);
  ASSERT_TRUE(shared);
  memory.clear(base);
  EXPECT_EQ(at<char>(base)[bytes / 2], 0);
  EXPECT_EQ(Seen(*shared, bytes).as<char>()[bytes / 2], 0);
  std::memset(at<void>(base), 9, bytes);
  EXPECT_TRUE(memory.release(base));
  EXPECT_FALSE(memory.share(base));
}

TEST(SharedMemory, IsReachedByTheDevicesThatAreNamed) {
  Memory memory(3, 64 << 20);
  std::vector<char> host(page);
  ASSERT_TRUE(memory.adopt(0, host.data(), page, AllocationKind::device, {}, {.reach = 0b010}));
  const auto base = reinterpret_cast<std::uint64_t>(host.data());
  memory.set_peer_access(2, 0, true);
  const auto reached = [&](int device) { return memory.extent(device, base).high != 0; };
  EXPECT_FALSE(reached(0));
  EXPECT_TRUE(reached(1));
  EXPECT_FALSE(reached(2));
  memory.set_reach(base, 0b101);
  EXPECT_TRUE(reached(0));
  EXPECT_FALSE(reached(1));
  EXPECT_TRUE(reached(2));
}

}  // namespace
}  // namespace inflight::machine
