// Ranges to unmap, with the work that may still use them.
#include "gpu/cuda/core/memory/mappings.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "gpu/cuda/core/queue/core.hpp"

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

void add_pending(const Device& device, std::vector<Ticket>& to) {
  for (const auto& stream : device.streams())
    if (Ticket last = stream->last(); !last.done()) to.push_back(std::move(last));
}

std::vector<Ticket> pending_work() {
  std::vector<Ticket> pending;
  Core& core = Core::get();
  for (int i = 0; i < core.device_count(); ++i) add_pending(core.device(i), pending);
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

void wait_for_pending_work() {
  for (const Ticket& each : pending_work()) each.wait();
}

void wait_for_users(std::uint64_t address, int owner) {
  Core& core = Core::get();
  core.device(owner).synchronize();
  std::vector<Ticket> pending;
  for (int i = 0; i < core.device_count(); ++i)
    if (i != owner && core.memory.extent(i, address).high != 0)
      add_pending(core.device(i), pending);
  for (const Ticket& each : pending) each.wait();
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
