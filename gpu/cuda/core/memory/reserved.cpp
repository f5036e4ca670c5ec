// The tables of reserved and mapped ranges.
#include "gpu/cuda/core/memory/reserved.hpp"

#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace inflight::cuda {
namespace {

using Ranges = std::map<std::uint64_t, std::uint64_t>;  // bytes by base
struct Tables {
  std::shared_mutex mutex;
  Ranges reserved, mapped;
  std::atomic<bool> any{false};  // lets most calls skip the lock
};
Tables& tables() {
  static auto& instance = *new Tables;
  return instance;
}

bool in_one_of(const Ranges& ranges, std::uint64_t address) {
  const auto next = ranges.upper_bound(address);
  if (next == ranges.begin()) return false;
  const auto& [base, bytes] = *std::prev(next);
  return address - base < bytes;
}

}  // namespace

void add_reserved(std::uint64_t base, std::uint64_t bytes) {
  const std::unique_lock lock(tables().mutex);
  tables().reserved[base] = bytes;
  tables().any = true;
}

void remove_reserved(std::uint64_t base) {
  const std::unique_lock lock(tables().mutex);
  tables().reserved.erase(base);
  tables().any = !tables().reserved.empty();
}

void add_mapped(std::uint64_t base, std::uint64_t bytes) {
  const std::unique_lock lock(tables().mutex);
  tables().mapped[base] = bytes;
}

void remove_mapped(std::uint64_t base) {
  const std::unique_lock lock(tables().mutex);
  tables().mapped.erase(base);
}

bool is_unmapped(std::uint64_t address) {
  if (!tables().any) return false;
  const std::shared_lock lock(tables().mutex);
  return in_one_of(tables().reserved, address) && !in_one_of(tables().mapped, address);
}

}  // namespace inflight::cuda
