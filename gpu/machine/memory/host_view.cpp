// The protection of the devices' pages, which follows who works with them.
#include "gpu/machine/memory/host_view.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>

namespace inflight::machine {
namespace {

// A sparing view spends `allowance` first, and then one part in `least_share` of the time.
constexpr std::chrono::milliseconds allowance{5};
constexpr int least_share = 128;

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
    began_ = Clock::now();
    closes_ = true;
  }
  if (users_.load() == 0) close_unused();
}

// `closed_` is set before `users_` is read, and begin() does it the other way round. So either this
// sees the new user, or the new user sees that the pages are closed and waits in open().
void HostView::close_unused() {
  const Changing changing(changing_);
  const Clock::time_point now = Clock::now();
  if (effort_ == Effort::sparing && spent_ > allowance + (now - began_) / least_share) return;
  closed_ = true;
  if (users_.load() != 0 || !protect(PROT_NONE)) {
    closed_ = false;
    protect(PROT_READ | PROT_WRITE);
    return;
  }
  spent_ += Clock::now() - now;
}

bool HostView::open() {
  const Changing changing(changing_);
  if (!closed_.load()) return true;
  const Clock::time_point began = Clock::now();
  if (!protect(PROT_READ | PROT_WRITE)) return false;
  closed_ = false;
  spent_ += Clock::now() - began;
  return true;
}

void HostView::place(std::size_t device, std::uint64_t base) {
  pages_[device].base = base;
  pages_[device].end = base;
}

bool HostView::extend(std::size_t device, std::uint64_t high) {
  const Changing changing(changing_);
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
