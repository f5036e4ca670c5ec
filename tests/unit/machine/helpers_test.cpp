// Helper threads of launches: the requested number, each with its own place, and none after a
// launch has ended. In a row of launches they go from one to the next.
#include "gpu/machine/run/schedule/helpers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gpu/machine/run/schedule/workers.hpp"

namespace inflight::machine {
namespace {

const unsigned others = most_workers() - 1;

// Waits until `helpers` have arrived, which the launching thread does not do.
class Meeting {
 public:
  void come(unsigned place) {
    std::lock_guard lock(mutex_);
    EXPECT_TRUE(places_.insert(place).second) << "two helpers have place " << place;
    ++count_;
  }
  void wait_for(unsigned helpers) const {
    while (count_ < helpers) std::this_thread::yield();
  }
  const std::set<unsigned>& places() const { return places_; }

 private:
  std::mutex mutex_;
  std::set<unsigned> places_;
  std::atomic<unsigned> count_{0};
};

TEST(Helpers, HaveAPlaceEach) {
  Meeting meeting;
  Helpers helpers(
      [&](unsigned place) {
        meeting.come(place);
        meeting.wait_for(others);
      },
      others);
  meeting.wait_for(others);
  helpers.finish();
  EXPECT_EQ(meeting.places().size(), others);
  EXPECT_EQ(*meeting.places().begin(), 1u);
  EXPECT_EQ(*meeting.places().rbegin(), others);
}

// Launches in direct succession, after a pause, and longer than helpers poll for work.
TEST(Helpers, ComeToEveryLaunchAndLeaveIt) {
  for (const int pause : {0, 0, 0, 0, 200, 0, 0, 2000, 0, 0}) {
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
    std::atomic<unsigned> working{0}, came{0};
    {
      Helpers helpers(
          [&](unsigned) {
            ++working;
            ++came;
            std::this_thread::yield();
            --working;
          },
          others);
      while (came < others) std::this_thread::yield();
    }
    EXPECT_EQ(working, 0u);
    EXPECT_GE(came, others);
  }
}

TEST(Helpers, StayAwayFromWhatHasEnded) {
  for (int launch = 0; launch < 2000; ++launch) {
    std::atomic<bool> ended{false};
    bool late = false;
    {
      Helpers helpers([&](unsigned) { late |= ended; }, 1);
      helpers.finish();
      ended = true;
    }
    ASSERT_FALSE(late);
  }
}

TEST(Helpers, ServeLaunchesOfManyThreads) {
  constexpr unsigned launchers = 4, launches = 300, tasks = 50;
  std::vector<std::thread> threads;
  std::atomic<unsigned> done{0};
  for (unsigned i = 0; i < launchers; ++i)
    threads.emplace_back([&] {
      for (unsigned n = 0; n < launches; ++n) {
        std::atomic<unsigned> next{0};
        const auto work = [&](unsigned) {
          while (next++ < tasks) ++done;
        };
        Helpers helpers(work, 1 + n % 3);
        work(0);
        helpers.finish();
      }
    });
  for (auto& each : threads) each.join();
  EXPECT_EQ(done, launchers * launches * tasks);
}

// A launch in a row, and who works for it when.
struct InARow {
  std::atomic<bool> begun{false}, ended{false};
  std::atomic<unsigned> came{0}, at_a_wrong_time{0};
  std::optional<Helpers> helpers;
  Helpers::Work work() {
    return [this](unsigned) {
      if (!begun || ended) ++at_a_wrong_time;
      ++came;
    };
  }
  void wait() const {
    while (came < others) std::this_thread::yield();
  }
};

TEST(Helpers, WorkForTheLaunchBehindOnceTheOneInFrontOpensIt) {
  auto front = std::make_unique<InARow>();
  front->begun = true;
  front->helpers.emplace(front->work(), others);
  for (int n = 0; n < 2000; ++n) {
    auto behind = std::make_unique<InARow>();
    behind->helpers.emplace(behind->work(), others, *front->helpers);
    const bool opens = n % 5 != 3;  // else a fault has ended the one in front
    if (n % 3 == 0) front->wait();
    if (opens) {
      behind->begun = true;
      front->helpers->open_next();
    }
    front->helpers->finish();
    front->ended = true;
    ASSERT_EQ(front->at_a_wrong_time, 0u);
    // Before that, launches of other tests may have wanted the call.
    if (n > 1) EXPECT_EQ(behind->helpers->opened(), opens);
    behind->begun = true;
    behind->helpers->resume();
    if (n % 3 == 1) behind->wait();
    front = std::move(behind);
  }
  front->helpers->finish();
  EXPECT_EQ(front->at_a_wrong_time, 0u);
}

TEST(Helpers, LeaveALaunchBehindThatIsDropped) {
  for (int n = 0; n < 2000; ++n) {
    InARow front, behind;
    front.begun = behind.begun = true;
    front.helpers.emplace(front.work(), others);
    behind.helpers.emplace(behind.work(), others, *front.helpers);
    if (n % 2 == 0) front.helpers->open_next();
    front.helpers->finish();
    behind.helpers.reset();
    behind.ended = true;
    ASSERT_EQ(front.at_a_wrong_time + behind.at_a_wrong_time, 0u);
  }
}

// Launches of other threads in between find the call taken.
TEST(Helpers, ServeRowsOfLaunchesOfManyThreads) {
  constexpr unsigned launchers = 3, launches = 500, tasks = 20;
  std::vector<std::thread> threads;
  std::atomic<unsigned> done{0};
  struct Tasks {
    std::atomic<unsigned>& done;
    std::atomic<unsigned> next{0};
    std::optional<Helpers> helpers;
    void work() {
      while (next++ < tasks) ++done;
    }
  };
  for (unsigned i = 0; i < launchers; ++i)
    threads.emplace_back([&] {
      auto front = std::make_unique<Tasks>(done);
      front->helpers.emplace([at = front.get()](unsigned) { at->work(); }, others);
      for (unsigned n = 1; n < launches; ++n) {
        auto behind = std::make_unique<Tasks>(done);
        behind->helpers.emplace([at = behind.get()](unsigned) { at->work(); }, others,
                                *front->helpers);
        front->work();
        front->helpers->open_next();
        front->helpers->finish();
        behind->helpers->resume();
        front = std::move(behind);
      }
      front->work();
      front->helpers->finish();
    });
  for (auto& each : threads) each.join();
  EXPECT_EQ(done, launchers * launches * tasks);
}

TEST(Helpers, HandOverWhatTheyThrow) {
  std::atomic<bool> thrown{false};
  Helpers helpers(
      [&](unsigned) {
        thrown = true;
        throw std::runtime_error("no memory");
      },
      1);
  while (!thrown) std::this_thread::yield();
  EXPECT_THROW(helpers.finish(), std::runtime_error);
}

}  // namespace
}  // namespace inflight::machine
