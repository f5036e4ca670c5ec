// Memory accesses of host threads: each precedes the next action of its thread.
#include "gpu/cuda/core/watch/touch_log.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace inflight::cuda::watch {
namespace {

TEST(TouchLog, ATouchIsTakenThoughAnotherThreadStillWritesDownAnEarlierOne) {
  const auto log = std::make_unique<TouchLog>();
  std::atomic<bool> begun{false}, taking{false};
  std::thread slow([&] {
    log->add([&](Touch& touch) {
      begun = true;
      while (!taking) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      touch.address = 1;
    });
  });
  while (!begun) std::this_thread::yield();
  log->add([](Touch& touch) { touch.address = 2; });
  EXPECT_FALSE(log->empty());
  taking = true;
  std::vector<std::uint64_t> taken;
  log->take([&](const Touch& touch) { taken.push_back(touch.address); });
  slow.join();
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(log->empty());
}

TEST(TouchLog, WhatDoesNotFindRoomIsDropped) {
  const auto log = std::make_unique<TouchLog>();
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) log->add([&](Touch& touch) { touch.address = i; });
  log->take([&](const Touch& touch) { EXPECT_EQ(touch.address, count++); });
  EXPECT_EQ(count, 4096u);
}

}  // namespace
}  // namespace inflight::cuda::watch
