// machine::Memory: allocation, guards, reuse, access rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "gpu/machine/memory/memory.hpp"

namespace inflight::machine {
namespace {

constexpr std::uint64_t MiB = 1 << 20;

std::uint64_t take(Memory& m, std::uint64_t size, AllocationKind kind = AllocationKind::device,
                   int device = 0, std::uint64_t alignment = 256) {
  auto base = m.allocate(device, size, kind, alignment);
  EXPECT_TRUE(base) << base.error();
  return base.value_or(0);
}

TEST(Memory, AllocationsAreZeroAlignedAndApart) {
  Memory m(1, 64 * MiB);
  const auto a = take(m, 1000), b = take(m, 1000, AllocationKind::device, 0, 4096);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_EQ(b % 4096, 0u);
  EXPECT_GE(b > a ? b - a : a - b, 1000u + 256u);
  auto* bytes = reinterpret_cast<unsigned char*>(a);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(bytes[i], 0);
  std::memset(bytes, 7, 1000);
}

TEST(Memory, TellsOfAllThatComesAndGoes) {
  Memory m(1, 64 * MiB);
  std::vector<std::string> heard;
  m.observe([&](const Allocation& a, bool made) {
    heard.push_back((made ? "made " : "released ") + std::string(spelling(a.kind)) + " " +
                    std::to_string(a.size) + " " + a.name);
  });
  const auto a = take(m, 1000);
  const auto v = m.allocate(0, 8, AllocationKind::variable, 256, "table");
  ASSERT_TRUE(v);
  alignas(16) static char host[64];
  ASSERT_TRUE(m.adopt(0, host, 64, AllocationKind::host));
  EXPECT_FALSE(m.adopt(0, host, 64, AllocationKind::host));
  EXPECT_TRUE(m.release(a));
  EXPECT_FALSE(m.release(a));
  EXPECT_TRUE(m.release(reinterpret_cast<std::uint64_t>(host)));
  const auto spelled = [](AllocationKind kind) { return std::string(spelling(kind)); };
  EXPECT_EQ(heard,
            (std::vector<std::string>{"made " + spelled(AllocationKind::device) + " 1000 ",
                                      "made " + spelled(AllocationKind::variable) + " 8 table",
                                      "made " + spelled(AllocationKind::host) + " 64 ",
                                      "released " + spelled(AllocationKind::device) + " 1000 ",
                                      "released " + spelled(AllocationKind::host) + " 64 "}));
}

TEST(Memory, WhatGrowsIsThereAllTheTime) {
  Memory m(1, 64 * MiB);
  std::vector<std::byte> host(1 << 16);
  const auto base = reinterpret_cast<std::uint64_t>(host.data());
  ASSERT_TRUE(m.adopt(0, host.data(), 16, AllocationKind::device));
  std::atomic<bool> done{false};
  std::atomic<int> missing{0}, looks{0};
  std::thread kernel([&] {
    while (!done || looks < 1000) {
      missing += m.extent(0, base).high < base + 16;
      ++looks;
    }
  });
  for (std::uint64_t bytes = 32; bytes < host.size(); bytes += 16)
    m.replace(std::array{base},
              std::array{Memory::Adoption{0, host.data(), bytes, AllocationKind::device, {}}});
  done = true;
  kernel.join();
  EXPECT_EQ(missing, 0);
  EXPECT_EQ(m.find(base)->size, host.size() - 16);
}

TEST(Memory, ExtentIsExactlyTheAllocation) {
  Memory m(1, 64 * MiB);
  const auto a = take(m, 1000);
  for (auto at : {a, a + 500, a + 999}) {
    const Extent e = m.extent(0, at);
    EXPECT_EQ(e.low, a);
    EXPECT_EQ(e.high, a + 1000);
    EXPECT_TRUE(e.writable);
  }
  EXPECT_EQ(m.extent(0, a + 1000).high, 0u);
  EXPECT_EQ(m.extent(0, a - 1).high, 0u);
  EXPECT_EQ(m.extent(0, 0).high, 0u);
}

TEST(Memory, NothingOfSizeZero) {
  Memory m(1, MiB);
  EXPECT_EQ(m.allocate(0, 0, AllocationKind::device).value(), 0u);
  EXPECT_TRUE(m.live().empty());
}

TEST(Memory, CapacityIsKeptAndManagedMemoryIsOutsideIt) {
  Memory m(1, 10 * MiB);
  const auto a = take(m, 6 * MiB);
  EXPECT_EQ(m.used(0), 6 * MiB);
  auto refused = m.allocate(0, 5 * MiB, AllocationKind::device);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("5242880 bytes requested"), std::string::npos);
  EXPECT_FALSE(m.allocate(0, ~0ull, AllocationKind::device));
  EXPECT_FALSE(m.allocate(0, ~0ull - 300, AllocationKind::managed));
  take(m, 20 * MiB, AllocationKind::managed);
  EXPECT_EQ(m.used(0), 6 * MiB);
  EXPECT_TRUE(m.release(a));
  EXPECT_EQ(m.used(0), 0u);
  take(m, 10 * MiB);
}

TEST(Memory, DevicesAndManagedMemoryShareWhatTheHostGives) {
  Memory m(2, 10 * MiB, 12 * MiB);
  const auto a = m.allocate(0, 8 * MiB, AllocationKind::device).value();
  EXPECT_EQ(m.available(0), 2 * MiB);
  EXPECT_EQ(m.available(1), 4 * MiB);
  auto refused = m.allocate(1, 5 * MiB, AllocationKind::device);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("4194304 of the 12582912 bytes"), std::string::npos);
  EXPECT_FALSE(m.allocate(0, 5 * MiB, AllocationKind::managed));
  EXPECT_TRUE(m.allocate(0, 4 * MiB, AllocationKind::managed));
  EXPECT_TRUE(m.release(a));
  EXPECT_EQ(m.available(1), 8 * MiB);
  EXPECT_FALSE(m.host_share().take(9 * MiB));
  EXPECT_TRUE(m.host_share().take(8 * MiB));
  EXPECT_EQ(m.available(0), 0u);
}

TEST(Memory, AFreedAllocationIsNamedAndNotReusedAtOnce) {
  Memory m(1, 64 * MiB);
  const auto a = take(m, 4096);
  const auto before = m.generation();
  ASSERT_TRUE(m.release(a));
  EXPECT_NE(m.generation(), before);
  EXPECT_FALSE(m.release(a));
  EXPECT_FALSE(m.find(a));
  EXPECT_EQ(m.extent(0, a).high, 0u);
  const auto stale = m.nearest(a + 10);
  ASSERT_TRUE(stale);
  EXPECT_EQ(stale->base, a);
  EXPECT_FALSE(stale->live);
  EXPECT_NE(take(m, 4096), a);
}

TEST(Memory, NearestPrefersTheCloserNeighbour) {
  Memory m(1, 64 * MiB);
  const auto a = take(m, 256), b = take(m, 256);
  EXPECT_EQ(m.nearest(a + 256 + 1)->base, a);
  EXPECT_EQ(m.nearest(b - 1)->base, b);
  EXPECT_EQ(m.nearest(std::min(a, b) - 8)->base, std::min(a, b));
}

// Further than any index reaches, nothing is near; nor is a freed allocation past its own length.
TEST(Memory, NearestIsNearby) {
  Memory m(1, 64 * MiB);
  EXPECT_FALSE(m.nearest(5));
  const auto a = take(m, 256), b = take(m, 256);
  EXPECT_FALSE(m.nearest(5));
  EXPECT_EQ(m.nearest(a + 4 * (std::uint64_t{1} << 32))->base, std::max(a, b));
  EXPECT_FALSE(m.nearest(a + (std::uint64_t{1} << 40)));
  ASSERT_TRUE(m.release(b));
  EXPECT_EQ(m.nearest(b + 300)->base, b);
  EXPECT_EQ(m.nearest(b + 1000)->base, a);
}

TEST(Memory, KnowsWhatIsTheHostS) {
  Memory m(1, 64 * MiB);
  const auto a = take(m, 256);
  alignas(4096) static char own[16384];
  const auto at = [](const void* place) { return reinterpret_cast<std::uint64_t>(place); };
  EXPECT_EQ(m.host_place(at(__builtin_frame_address(0))), "on the host's stack");
  EXPECT_EQ(m.host_place(at(own)), "in the code or data of unit_machine");
  EXPECT_EQ(m.host_place(a), "");
  EXPECT_EQ(m.host_place(a + 4096), "");
  EXPECT_EQ(m.host_place(m.windows().shared), "");
  ASSERT_TRUE(m.adopt(0, own, 4096, AllocationKind::host));
  EXPECT_EQ(m.host_place(at(own)), "");
  EXPECT_EQ(m.host_place(at(own) + 4096), "");  // told by its distance
  ASSERT_TRUE(m.release(at(own)));
  EXPECT_EQ(m.host_place(at(own)), "");  // used after its release
}

TEST(Memory, LargeFreedMemoryReadsAsZeroWhenItComesBack) {
  Memory m(1, 64 * MiB);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 300; ++i) {
    const auto a = take(m, MiB + 8);
    auto* word = reinterpret_cast<std::uint64_t*>(a + MiB / 2);
    ASSERT_EQ(*word, 0u);
    *word = 42;
    seen.insert(a);
    ASSERT_TRUE(m.release(a));
  }
  EXPECT_LT(seen.size(), 300u) << "quarantined ranges never came back";
}

TEST(Memory, ClearMakesZeros) {
  Memory m(1, 64 * MiB);
  for (std::uint64_t size : {std::uint64_t{100}, 3 * MiB + 100}) {
    const auto a = take(m, size);
    std::memset(reinterpret_cast<void*>(a), 9, size);
    m.clear(a);
    const auto* bytes = reinterpret_cast<const char*>(a);
    EXPECT_EQ(std::count(bytes, bytes + size, 0), std::ptrdiff_t(size));
  }
}

TEST(Memory, KernelsMayWriteConstantsThroughTheirAddresses) {
  Memory m(1, MiB);
  const auto a = take(m, 64, AllocationKind::constant);
  EXPECT_EQ(m.extent(0, a).high, a + 64);
  EXPECT_TRUE(m.extent(0, a).writable);
}

TEST(Memory, PeersReachEachOtherOnlyWhenAllowed) {
  Memory m(2, 16 * MiB);
  const auto mine = take(m, 64, AllocationKind::device, 0),
             other = take(m, 64, AllocationKind::device, 1);
  EXPECT_EQ(m.extent(0, other).high, 0u);
  m.set_peer_access(0, 1, true);
  EXPECT_TRUE(m.peer_access(0, 1));
  EXPECT_EQ(m.extent(0, other).high, other + 64);
  EXPECT_EQ(m.extent(1, mine).high, 0u);
  const auto managed = take(m, 64, AllocationKind::managed, 1);
  EXPECT_EQ(m.extent(0, managed).high, managed + 64);
}

TEST(Memory, HostMemoryIsAdopted) {
  Memory m(2, 16 * MiB);
  std::vector<char> host(1000);
  ASSERT_TRUE(m.adopt(0, host.data(), 1000, AllocationKind::host));
  EXPECT_FALSE(m.adopt(0, host.data() + 500, 10, AllocationKind::host));
  EXPECT_FALSE(m.adopt(0, host.data(), 0, AllocationKind::host));
  const auto at = reinterpret_cast<std::uint64_t>(host.data());
  EXPECT_EQ(m.extent(1, at + 999).high, at + 1000);
  EXPECT_TRUE(m.release(at));
  EXPECT_EQ(m.extent(1, at).high, 0u);
  EXPECT_TRUE(m.adopt(0, host.data() + 8, 100, AllocationKind::host));
  EXPECT_TRUE(m.find(at + 8)->live);
  EXPECT_FALSE(m.adopt(0, reinterpret_cast<void*>(take(m, 64) + 512), 8, AllocationKind::host));
}

TEST(Memory, WindowsAreApartFromEverything) {
  Memory m(1, 16 * MiB);
  const Windows& w = m.windows();
  for (auto at : {w.shared, w.local, w.param, w.code}) {
    EXPECT_NE(at, 0u);
    EXPECT_EQ(at % Windows::shared_size, 0u);
    EXPECT_EQ(m.extent(0, at).high, 0u);
  }
  const auto a = take(m, 64);
  EXPECT_TRUE(a < w.shared || a >= w.code + Windows::code_size);
}

TEST(Memory, RandomHistoryNeverOverlaps) {
  Memory m(1, 256 * MiB);
  std::mt19937 random(7);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.size() > 100 || (!live.empty() && random() % 2)) {
      const std::size_t i = random() % live.size();
      ASSERT_TRUE(m.release(live[i].first));
      live[i] = live.back();
      live.pop_back();
    } else {
      const std::uint64_t size = 1 + random() % (random() % 8 ? 5000 : 300000);
      live.emplace_back(take(m, size, AllocationKind::device, 0, 256u << random() % 5), size);
    }
  }
  std::sort(live.begin(), live.end());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    total += live[i].second;
    if (i > 0) {
      EXPECT_GE(live[i].first, live[i - 1].first + live[i - 1].second + 256);
    }
  }
  EXPECT_EQ(m.used(0), total);
  EXPECT_EQ(m.live().size(), live.size());
}

TEST(Memory, AdoptsNothingAroundItsOwnAddresses) {
  Memory m(1, 1 << 20);
  const std::uint64_t page = 4096, around = std::uint64_t{1} << 45;
  const std::uint64_t base = m.allocate(0, page, AllocationKind::device).value();
  m.release(base);
  const auto adopt = [&](std::uint64_t from, std::uint64_t bytes) {
    return m.adopt(0, reinterpret_cast<void*>(from), bytes, AllocationKind::host);
  };
  EXPECT_FALSE(adopt(base - around / 2, around));
  EXPECT_FALSE(adopt(page, ~std::uint64_t{0}));
  EXPECT_TRUE(adopt(page, page));
}

}  // namespace
}  // namespace inflight::machine
