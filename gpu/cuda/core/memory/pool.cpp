// Memory pools: their places and their accounting.
#include "gpu/cuda/core/memory/pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/memory/mappings.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

constexpr std::uint64_t reserve_step = 32 << 20;  // bytes
constexpr int first_reuse = 1, last_reuse = 3;

// The pool of every pool allocation, and the addresses, in pools or not, that streams will free.
struct Ordered {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::shared_ptr<Pool>> pools;    // by address
  std::unordered_map<std::uint64_t, std::function<void()>> adopted;  // ends the mapping, by address
  std::set<std::uint64_t> freeing;
};
Ordered& ordered() {
  static Ordered& instance = *new Ordered;
  return instance;
}

// The default pools, and the pools that programs made current instead.
struct Places {
  std::mutex mutex;
  std::map<PoolPlace, std::shared_ptr<Pool>> defaults, chosen;
};
Places& places() {
  static Places& instance = *new Places;
  return instance;
}
std::atomic<bool> any_pool_used{false};

bool host_node_exists(int id) {
  const std::string path = "/sys/devices/system/node/node" + std::to_string(id);
  return id == 0 || (id > 0 && access(path.c_str(), F_OK) == 0);
}

}  // namespace

Result<PoolPlace> pool_place(const abi::Location* location, int allocation_type) {
  const bool managed = allocation_type == abi::allocation_managed;
  if (!location || (!managed && allocation_type != abi::allocation_pinned))
    return fail(Status::invalid_value);
  PoolPlace place{allocation_type, location->type, 0};
  switch (location->type) {
    case abi::location_device:
      if (location->id < 0 || location->id >= Core::get().device_count())
        return fail(Status::invalid_device);
      place.id = location->id;
      return place;
    case abi::location_numa:
      if (!host_node_exists(location->id)) return fail(Status::invalid_value);
      place.id = location->id;
      return place;
    case abi::location_host:
      return place;
    case abi::location_none:
      if (managed) return place;
      break;
    default:
      break;
  }
  return fail(Status::invalid_value);
}

Pool::Pool(const PoolPlace& place, bool is_default, std::uint64_t max_bytes, int handle_types)
    : place(place),
      device(place.type == abi::location_device ? place.id : 0),
      is_default(is_default),
      handle_types(handle_types),
      max_bytes_(max_bytes) {}

unsigned long long Pool::next_number() {
  static std::atomic<unsigned long long> last{0};
  return ++last;
}

machine::AllocationKind Pool::kind() const {
  if (place.allocation == abi::allocation_managed) return machine::AllocationKind::managed;
  return place.type == abi::location_device ? machine::AllocationKind::device
                                            : machine::AllocationKind::host;
}

Result<std::uint64_t> Pool::allocate(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (max_bytes_ && (bytes > max_bytes_ || used_ > max_bytes_ - bytes))
    return fail(Status::out_of_memory);
  auto address = Core::get().allocate(device, bytes, kind());
  if (!address) return fail(Status::out_of_memory);
  if (Core::get().device_count() > 1) Core::get().memory.set_reach(*address, reach());
  live_[*address] = bytes;
  used_ += bytes;
  count();
  return *address;
}

void Pool::adopt(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  Core::get().memory.set_reach(address, reach());
  live_[address] = 0;
}

// The devices that may access its memory, as machine::Allocation has it. 0: all devices.
std::uint64_t Pool::reach() const {
  if (kind() != machine::AllocationKind::device) return 0;
  std::uint64_t devices = std::uint64_t{1} << device;
  for (const auto& [from, flags] : access_)
    if (flags) devices |= std::uint64_t{1} << from;
  return devices;
}

std::uint64_t Pool::needed() const { return round_up(used_, reserve_step); }

void Pool::count() {
  used_high_ = std::max(used_high_, used_);
  reserved_ = std::max(reserved_, needed());
  reserved_high_ = std::max(reserved_high_, reserved_);
  any_pool_used = true;
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
  const std::uint64_t kept =
      keep_bytes < reserved_ ? round_up(keep_bytes, reserve_step) : reserved_;
  reserved_ = std::max(needed(), std::min(reserved_, kept));
}

void Pool::trim_to_threshold() {
  std::uint64_t threshold = 0;
  {
    std::lock_guard lock(mutex_);
    threshold = threshold_;
  }
  trim(threshold / reserve_step * reserve_step);  // as on an H200, rounds the threshold down
}

void Pool::forget_all() {
  std::map<std::uint64_t, std::uint64_t> ended;
  {
    std::lock_guard lock(mutex_);
    ended.swap(live_);
    used_ = reserved_ = 0;
  }
  for (const auto& [address, bytes] : ended) free_claimed(address);
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

unsigned Pool::access(const abi::Location& from) const {
  constexpr unsigned read_and_write = 3;
  const bool here = from.type == place.type && from.id == place.id;
  if (here || place.allocation == abi::allocation_managed) return read_and_write;
  if (from.type != abi::location_device)
    return place.type == abi::location_device ? 0 : read_and_write;
  std::lock_guard lock(mutex_);
  auto it = access_.find(from.id);
  return it == access_.end() ? 0 : it->second;
}

Status Pool::set_access(const abi::Location& from, unsigned flags) {
  if (from.type != abi::location_device) return Status::invalid_value;
  if (from.id < 0 || from.id >= Core::get().device_count()) return Status::invalid_device;
  if (flags != 0 && flags != 1 && flags != 3) return Status::invalid_value;
  const bool own = place.type == abi::location_device && from.id == device;
  if (own) return flags ? Status::success : Status::invalid_device;
  std::lock_guard lock(mutex_);
  access_[from.id] = flags;
  for (const auto& [address, bytes] : live_) Core::get().memory.set_reach(address, reach());
  return Status::success;
}

std::shared_ptr<Pool> default_pool(const PoolPlace& place) {
  std::lock_guard lock(places().mutex);
  std::shared_ptr<Pool>& pool = places().defaults[place];
  if (!pool) {
    pool = std::make_shared<Pool>(place, true);
    Core::get().pools.add(pool);
  }
  return pool;
}

std::shared_ptr<Pool> current_pool(const PoolPlace& place) {
  {
    std::lock_guard lock(places().mutex);
    auto it = places().chosen.find(place);
    if (it != places().chosen.end()) return it->second;
  }
  return default_pool(place);
}

Status set_current_pool(const PoolPlace& place, const std::shared_ptr<Pool>& pool) {
  if (pool->place != place || pool->imported) return Status::invalid_value;
  std::lock_guard lock(places().mutex);
  places().chosen[place] = pool;
  return Status::success;
}

void forget_current_pools(int device) {
  std::lock_guard lock(places().mutex);
  std::erase_if(places().chosen, [&](const auto& each) { return each.second->device == device; });
}

Status destroy_pool(const std::shared_ptr<Pool>& pool) {
  if (pool->is_default) return Status::invalid_value;
  {
    std::lock_guard lock(places().mutex);
    std::erase_if(places().chosen, [&](const auto& each) { return each.second == pool; });
  }
  Core::get().pools.remove(pool.get());
  return Status::success;
}

void release_idle_pools() {
  unmap_unused();
  if (!any_pool_used) return;
  for (const auto& pool : Core::get().pools.all()) pool->trim_to_threshold();
}

std::shared_ptr<Pool> find_pool(const void* handle) { return Core::get().pools.find(handle); }

std::shared_ptr<Pool> pool_of(std::uint64_t address) {
  std::lock_guard lock(ordered().mutex);
  auto it = ordered().pools.find(address);
  return it == ordered().pools.end() ? nullptr : it->second;
}

Result<std::uint64_t> allocate_from(const std::shared_ptr<Pool>& pool, std::uint64_t bytes) {
  auto address = pool->allocate(bytes);
  if (!address) return address;
  std::lock_guard lock(ordered().mutex);
  ordered().pools[*address] = pool;
  return address;
}

void adopt_into(const std::shared_ptr<Pool>& pool, std::uint64_t address,
                std::function<void()> end) {
  unmap_unused();
  pool->adopt(address);
  std::lock_guard lock(ordered().mutex);
  ordered().pools[address] = pool;
  ordered().adopted[address] = std::move(end);
}

bool claim_free(std::uint64_t address) {
  auto allocation = Core::get().memory.find(address);
  if (!allocation || allocation->base != address) return false;
  const bool made_by_call =
      allocation->fresh &&
      (allocation->kind == machine::AllocationKind::device ||
       (allocation->kind == machine::AllocationKind::managed && allocation->name.empty()));
  std::lock_guard lock(ordered().mutex);
  if (!made_by_call && !ordered().pools.contains(address)) return false;
  return ordered().freeing.insert(address).second;
}

void free_claimed(std::uint64_t address) {
  std::shared_ptr<Pool> pool;
  std::function<void()> end;
  {
    std::lock_guard lock(ordered().mutex);
    ordered().freeing.erase(address);
    if (auto it = ordered().adopted.find(address); it != ordered().adopted.end()) {
      end = std::move(it->second);
      ordered().adopted.erase(it);
    }
    if (auto it = ordered().pools.find(address); it != ordered().pools.end()) {
      pool = std::move(it->second);
      ordered().pools.erase(it);
    }
  }
  if (pool) pool->release(address);
  Core::get().memory.release(address);
  if (end) end();
}

}  // namespace inflight::cuda
