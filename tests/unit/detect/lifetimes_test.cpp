// A finding may concern a launch that another thread runs, and that ends while the finding is made.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/finding/findings.hpp"
#include "gpu/check/finding/places.hpp"

namespace inflight::check {
namespace {

TEST(Places, ForgetALaunchThatHasEnded) {
  Places places;
  Kernel kernel;
  kernel.launch = 7;
  places.begin(kernel);
  EXPECT_EQ(places.kernel(7), &kernel);
  std::thread([&] { places.end(kernel); }).join();
  EXPECT_EQ(places.kernel(7), nullptr);
}

TEST(Findings, KeepLaunchesWhileTheyAreMade) {
  Findings findings;
  std::atomic<bool> ended{false}, made{false};
  std::thread other;
  findings.add({FindingKind::data_race, 1}, [&] {
    other = std::thread([&] {
      findings.end_launch([&] {
        EXPECT_TRUE(made);
        ended = true;
      });
    });
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    EXPECT_FALSE(ended);
    made = true;
    return Finding{};
  });
  other.join();
  EXPECT_TRUE(ended);
}

TEST(Blocks, LeaveAHeldStateToItsHolder) {
  Blocks<int> blocks;
  std::thread([&] { blocks.get(1, 2, [] { return std::make_unique<int>(5); }); }).join();
  const std::shared_ptr<int> held = blocks.held(1, 2);
  std::thread([&] { blocks.ended(1, 2); }).join();
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(*held, 5);
  EXPECT_EQ(blocks.held(1, 2), nullptr);
}

}  // namespace
}  // namespace inflight::check
