// Memory pools.
#include "gpu/cuda/pool.hpp"

#include <algorithm>
#include <set>

#include "gpu/cuda/core.hpp"

namespace inflight::cuda {
namespace {

constexpr std::uint64_t reserve_step = 32 << 20;
constexpr int first_reuse = 1, last_reuse = 3;

struct Claims {
  std::mutex mutex;
  std::set<std::uint64_t> freeing;
};
Claims& claims() {
  static Claims& instance = *new Claims;
  return instance;
}

}  // namespace

std::shared_ptr<Pool> Pool::of_device(int device) {
  static std::mutex& mutex = *new std::mutex;
  static auto& defaults = *new std::map<int, std::shared_ptr<Pool>>;
  std::lock_guard lock(mutex);
  std::shared_ptr<Pool>& pool = defaults[device];
  if (!pool) {
    pool = std::make_shared<Pool>(device, true);
    Core::get().pools.add(pool);
  }
  return pool;
}

Result<std::uint64_t> Pool::allocate(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (max_bytes_ && used_ + bytes > max_bytes_) return fail(Status::out_of_memory);
  auto address = Core::get().allocate(device, bytes, machine::AllocationKind::device);
  if (!address) return fail(Status::out_of_memory);
  live_[*address] = bytes;
  used_ += bytes;
  count();
  return *address;
}

void Pool::count() {
  used_high_ = std::max(used_high_, used_);
  const std::uint64_t needed = (used_ + reserve_step - 1) / reserve_step * reserve_step;
  reserved_ = std::max(reserved_, needed);
  reserved_high_ = std::max(reserved_high_, reserved_);
}

bool Pool::release(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  auto it = live_.find(address);
  if (it == live_.end()) return false;
  used_ -= it->second;
  live_.erase(it);
  return true;
}

void Pool::trim(std::uint64_t keep_bytes) {
  std::lock_guard lock(mutex_);
  const std::uint64_t needed = (used_ + reserve_step - 1) / reserve_step * reserve_step;
  reserved_ = std::max(needed, std::min(reserved_, keep_bytes));
}

void Pool::forget_all() {
  std::lock_guard lock(mutex_);
  live_.clear();
  used_ = reserved_ = 0;
}

Result<std::uint64_t> Pool::attribute(int which) const {
  std::lock_guard lock(mutex_);
  if (which >= first_reuse && which <= last_reuse) return reuse_[which];
  switch (PoolAttribute(which)) {
    case PoolAttribute::release_threshold:
      return threshold_;
    case PoolAttribute::reserved_current:
      return reserved_;
    case PoolAttribute::reserved_high:
      return reserved_high_;
    case PoolAttribute::used_current:
      return used_;
    case PoolAttribute::used_high:
      return used_high_;
    default:
      return fail(Status::invalid_value);
  }
}

Status Pool::set_attribute(int which, std::uint64_t value) {
  std::lock_guard lock(mutex_);
  if (which >= first_reuse && which <= last_reuse) {
    reuse_[which] = value != 0;
    return Status::success;
  }
  if (PoolAttribute(which) == PoolAttribute::release_threshold) {
    threshold_ = value;
    return Status::success;
  }
  // High-water marks can only be reset.
  const bool reserved = PoolAttribute(which) == PoolAttribute::reserved_high;
  if ((!reserved && PoolAttribute(which) != PoolAttribute::used_high) || value != 0)
    return Status::invalid_value;
  (reserved ? reserved_high_ : used_high_) = reserved ? reserved_ : used_;
  return Status::success;
}

unsigned Pool::access(int from_device) const {
  if (from_device == device) return 3;
  std::lock_guard lock(mutex_);
  auto it = access_.find(from_device);
  return it == access_.end() ? 0 : it->second;
}

Status Pool::set_access(int from_device, unsigned flags) {
  if (from_device < 0 || from_device >= Core::get().device_count()) return Status::invalid_device;
  if (flags != 0 && flags != 1 && flags != 3) return Status::invalid_value;
  if (from_device == device) return flags ? Status::success : Status::invalid_device;
  {
    std::lock_guard lock(mutex_);
    access_[from_device] = flags;
  }
  if (flags) Core::get().memory.set_peer_access(from_device, device, true);
  return Status::success;
}

std::shared_ptr<Pool> pool_of(std::uint64_t address) {
  for (const auto& pool : Core::get().pools.all())
    if (pool->holds(address)) return pool;
  return nullptr;
}

bool Pool::holds(std::uint64_t address) const {
  std::lock_guard lock(mutex_);
  return live_.contains(address);
}

bool claim_free(std::uint64_t address) {
  auto allocation = Core::get().memory.find(address);
  if (!allocation || allocation->base != address) return false;
  const bool made_by_call =
      allocation->kind == machine::AllocationKind::device ||
      (allocation->kind == machine::AllocationKind::managed && allocation->name.empty());
  if (!made_by_call) return false;
  std::lock_guard lock(claims().mutex);
  return claims().freeing.insert(address).second;
}

void free_claimed(std::uint64_t address) {
  if (auto pool = pool_of(address)) pool->release(address);
  {
    std::lock_guard lock(claims().mutex);
    claims().freeing.erase(address);
  }
  Core::get().memory.release(address);
}

}  // namespace inflight::cuda
