// The protection of the devices' pages, which follows who works with them.
#include "gpu/machine/memory/host_view.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <ctime>

namespace inflight::machine {
namespace {

// A sparing view spends `allowance` first, and then one part in `least_share` of the time.
constexpr std::chrono::milliseconds allowance{5};
constexpr int least_share = 128;

// Nanoseconds, to a few milliseconds. To read an exact clock takes a tenth of a small launch.
std::int64_t coarse_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

class Changing {
 public:
  explicit Changing(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~Changing() { flag_.clear(std::memory_order_release); }
  Changing(const Changing&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace

HostView::HostView(std::size_t devices)
    : devices_(devices), pages_(std::make_unique<Pages[]>(devices)) {}

bool HostView::protect(int protection) const {
  return std::all_of(pages_.get(), pages_.get() + devices_, [&](const Pages& each) {
    const std::uint64_t end = each.end.load();
    return end == each.base ||
           mprotect(reinterpret_cast<void*>(each.base), end - each.base, protection) == 0;
  });
}

void HostView::close(Effort effort) {
  {
    const Changing changing(changing_);
    effort_ = effort;
    began_ = coarse_now();
    closes_ = true;
  }
  if (users_.load() == 0) close_unused();
}

// `closed_` is set before `users_` is read, and begin() does it the other way round. So either this
// sees the new user, or the new user sees that the pages are closed and waits in open().
void HostView::close_unused() {
  if (!has_pages_.load(std::memory_order_relaxed) || !closes_.load()) return;
  if (const std::int64_t again = closes_again_.load(std::memory_order_relaxed);
      again != 0 && coarse_now() < again)
    return;
  const Changing changing(changing_);
  const Clock::time_point now = Clock::now();
  closed_ = true;
  if (users_.load() != 0 || !protect(PROT_NONE)) {
    closed_ = false;
    protect(PROT_READ | PROT_WRITE);
    return;
  }
  spend(Clock::now() - now);
}

void HostView::leave_open() {
  closes_ = false;
  open();
}

void HostView::spend(Clock::duration time) {
  spent_ += time;
  if (effort_ == Effort::full || spent_ <= allowance) return;
  const std::chrono::nanoseconds over = spent_ - allowance;
  closes_again_ = began_ + over.count() * least_share;
}

bool HostView::open() {
  const Changing changing(changing_);
  if (!closed_.load()) return true;
  const Clock::time_point began = Clock::now();
  if (!protect(PROT_READ | PROT_WRITE)) return false;
  closed_ = false;
  spend(Clock::now() - began);
  return true;
}

void HostView::place(std::size_t device, std::uint64_t base) {
  pages_[device].base = base;
  pages_[device].end = base;
}

bool HostView::extend(std::size_t device, std::uint64_t high) {
  const Changing changing(changing_);
  if (!has_pages_.exchange(true) && closes_.load()) {  // nothing was there to close
    closed_ = true;
    if (users_.load() != 0) closed_ = false;
  }
  Pages& pages = pages_[device];
  const std::uint64_t low = pages.end.load();
  const int protection = closed_.load() ? PROT_NONE : PROT_READ | PROT_WRITE;
  if (mprotect(reinterpret_cast<void*>(low), high - low, protection) != 0) return false;
  pages.end = high;
  return true;
}

bool HostView::holds(std::uint64_t address) const {
  return std::any_of(pages_.get(), pages_.get() + devices_, [&](const Pages& each) {
    return address - each.base < each.end.load() - each.base;
  });
}

}  // namespace inflight::machine
