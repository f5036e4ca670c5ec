// Ranges to unmap, with the work that may still use them.
#include "gpu/cuda/core/sharing/mappings.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "gpu/cuda/core/core.hpp"

namespace inflight::cuda {
namespace {

struct GivenUp {
  void* at = nullptr;
  std::uint64_t bytes = 0;
  std::vector<Ticket> users;
  bool unused() const {
    return std::all_of(users.begin(), users.end(), [](const Ticket& each) { return each.done(); });
  }
};

struct AllGivenUp {
  std::mutex mutex;
  std::vector<GivenUp> ranges;
  std::atomic<bool> any{false};
};
AllGivenUp& all_given_up() {
  static auto& instance = *new AllGivenUp;
  return instance;
}

std::vector<Ticket> pending_work() {
  std::vector<Ticket> pending;
  Core& core = Core::get();
  for (int i = 0; i < core.device_count(); ++i)
    for (const auto& stream : core.device(i).streams())
      if (Ticket last = stream->last(); !last.done()) pending.push_back(std::move(last));
  return pending;
}

}  // namespace

void unmap_when_unused(void* at, std::uint64_t bytes) {
  GivenUp range{at, bytes, pending_work()};
  AllGivenUp& all = all_given_up();
  {
    const std::lock_guard lock(all.mutex);
    all.ranges.push_back(std::move(range));
    all.any = true;
  }
  unmap_unused();
}

void unmap_unused() {
  AllGivenUp& all = all_given_up();
  if (!all.any) return;
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.ranges, [](const GivenUp& each) {
    if (!each.unused()) return false;
    munmap(each.at, each.bytes);
    return true;
  });
  all.any = !all.ranges.empty();
}

}  // namespace inflight::cuda
