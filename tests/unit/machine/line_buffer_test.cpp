// Reuse of buffers: by which threads, and with which contents.
#include "gpu/machine/code/line_buffer.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "gpu/host/of_this_thread.hpp"

namespace inflight::machine {
namespace {

bool zero(const LineBuffer& b) {
  return std::all_of(b.data(), b.data() + b.size(), [](std::byte x) { return x == std::byte{0}; });
}

TEST(LineBuffer, IsZeroWhenFreshWhoeverHadItsBytes) {
  for (int round = 0; round < 4; ++round)
    for (const std::size_t bytes : {64u, 4096u, 100u, 1u << 20}) {
      LineBuffer b;
      b.resize(bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0u);
      EXPECT_GE(b.size(), bytes);
      EXPECT_TRUE(zero(b));
      std::memset(b.data(), 0xee, b.size());
    }
}

TEST(LineBuffer, OfManyAtOnceEachHasItsOwn) {
  std::vector<LineBuffer> all(100);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].resize(256);
    std::memset(all[i].data(), static_cast<int>(i), 256);
  }
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].data()[255], std::byte(i));
}

// A thread's buffer may outlive the thread. Buffers that it returned are freed with it.
TEST(LineBuffer, MayOutliveItsThread) {
  LineBuffer outlives;
  std::thread([&] {
    LineBuffer gone;
    gone.resize(512), outlives.resize(512);
    static thread_local LineBuffer at_the_end;
    at_the_end.resize(512);
  }).join();
  EXPECT_TRUE(zero(outlives));
}

// What a thread keeps by a key is deleted when its thread_local objects are gone already.
struct KeptToTheEnd {
  LineBuffer buffer;
};

TEST(LineBuffer, IsFreedIfItsThreadGivesItBackOnlyWhileItEnds) {
  constexpr std::size_t bytes = 48 << 10;
  constexpr unsigned threads = 200;
  const std::size_t before = mallinfo2().uordblks;
  for (unsigned i = 0; i < threads; ++i)
    std::thread([] { host::of_this_thread<KeptToTheEnd>().buffer.resize(bytes); }).join();
  EXPECT_LT(mallinfo2().uordblks, before + threads * bytes / 4);
}

}  // namespace
}  // namespace inflight::machine
