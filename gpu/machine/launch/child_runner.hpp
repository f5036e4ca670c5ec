// Runs what a grid's threads launch: after the grid, or at the same time.
#pragma once
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "gpu/check/listener.hpp"
#include "gpu/machine/children/parent.hpp"
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

// How to run a launch and those that its threads launch. `run` runs one, and returns in `tails`
// what must run after its grid.
struct RunGrid {
  // Of another engine's code: the first blocks that use it, and the first ops where it is entered.
  struct Part {
    std::uint64_t blocks = ~std::uint64_t{0}, ops = ~std::uint64_t{0};
  };
  using Clock = std::chrono::steady_clock;
  const Limits& limits;
  const Options& options;
  const check::Topic topics;  // of the listener, for the launch and what it launches
  const std::function<void(std::string_view)>& print;
  Outcome (*run)(const Launch&, const RunGrid&, std::vector<Child>& tails);
  // When the host's launch began. Without a time-out the clock is not read, which would take a
  // noticeable part of a small launch.
  Clock::time_point begun = present();
  Part compiled = {};

  Clock::time_point present() const {
    return options.timeout.count() == 0 ? Clock::time_point() : Clock::now();
  }
  bool out_of_time() const {
    return options.timeout.count() != 0 && Clock::now() - begun >= options.timeout;
  }
};

// The outcome of a launch whose time is over before it begins. `what`: its name.
Outcome out_of_time(const RunGrid& how, std::string_view what);

// Runs a launch and then its tail launches, each followed by its own tail launches.
Outcome run_with_tails(const Launch& launch, const RunGrid& run_grid);

// By default children run one after the other once the grid has ended, since no grid may count on
// more. They run beside the grid with `--async early`, sometimes with `--async shuffled`, if the
// grid's threads only poll memory, and if half the pending launches are used.
class ChildRunner : public Parent {
 public:
  ChildRunner(Grid& grid, const RunGrid& run_grid);
  ~ChildRunner() override;

  Children& children() override;
  bool busy() const override;
  FaultKind check(const Launch& launch) const override;
  void launched() override;
  void block_ended(std::uint64_t block) override;
  void note_polling() override;

  // Call it once the grid has ended. Runs the remaining children. A child's fault becomes the
  // grid's.
  void finish();
  std::vector<Child> tails();

 private:
  bool has_children() const { return known_.load(std::memory_order_acquire); }
  void begin_concurrent();
  void work();
  void run_one(Child child);

  Grid& grid_;
  const RunGrid& run_grid_;
  std::mutex mutex_;
  std::unique_ptr<Children> children_;
  std::atomic<Children*> known_{nullptr};
  std::thread concurrent_;
  std::exception_ptr thrown_;
  async::Random random_;
};

}  // namespace inflight::machine
