// Memory pools, and allocation from them in stream order.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda {

// cudaMemPoolAttr by its numbers.
enum class PoolAttribute : int {
  reuse_follow_event_dependencies = 1,
  reuse_allow_opportunistic = 2,
  reuse_allow_internal_dependencies = 3,
  release_threshold = 4,
  reserved_current = 5,
  reserved_high = 6,
  used_current = 7,
  used_high = 8,
};

// Where a pool's memory lies: cudaMemAllocationType and cudaMemLocation by their numbers.
struct PoolPlace {
  int allocation = abi::allocation_pinned;
  int type = abi::location_device, id = 0;
  auto operator<=>(const PoolPlace&) const = default;
};
inline PoolPlace device_place(int device) { return {.id = device}; }
// From a program (invalid_value: no pool can lie there; invalid_device).
Result<PoolPlace> pool_place(const abi::Location* location, int allocation_type);

// A memory pool. Freed memory goes back to the device at once, whatever the release threshold. The
// reserve that programs can query is computed as CUDA would count it, in multiples of 32 MiB.
class Pool {
 public:
  Pool(const PoolPlace& place, bool is_default, std::uint64_t max_bytes = 0, int handle_types = 0);

  Result<std::uint64_t> allocate(std::uint64_t bytes);
  // Adds memory of another process, which accounts for it.
  void adopt(std::uint64_t address);
  // Removes the allocation from the accounting. False: it is not from this pool.
  bool release(std::uint64_t address);
  // Releases the reserve that is not in use, but keeps at least `keep_bytes` of reserve.
  void trim(std::uint64_t keep_bytes);
  void trim_to_threshold();
  // Forgets every allocation, because the device is reset.
  void forget_all();

  Result<std::uint64_t> attribute(int which) const;
  Status set_attribute(int which, std::uint64_t value);
  // cudaMemAccessFlags by their numbers: 0 none, 3 read and write. A device's access to a pool's
  // memory does not depend on its access to the pool's device.
  unsigned access(const abi::Location& from) const;
  Status set_access(const abi::Location& from, unsigned flags);

  const PoolPlace place;
  const int device;  // accounts for the memory: the pool's device, or 0
  const bool is_default;
  const int handle_types;  // the handle types it can be exported as, one bit each
  const unsigned long long number = next_number();  // in its process

  // The pool that another process exported.
  struct Origin {
    int process = 0;
    unsigned long long number = 0;
    bool operator==(const Origin&) const = default;
  };
  std::optional<Origin> imported;  // if set, another process owns its memory; it allocates none

 private:
  static unsigned long long next_number();
  std::uint64_t needed() const;
  std::uint64_t reach() const;
  void count();
  machine::AllocationKind kind() const;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> live_;  // bytes by address
  std::map<int, unsigned> access_;               // by device
  std::uint64_t max_bytes_, reuse_[4] = {0, 1, 1, 1}, threshold_ = 0;
  std::uint64_t used_ = 0, used_high_ = 0, reserved_ = 0, reserved_high_ = 0;
};

// A place's default pool and its current one (cudaMemSetMemPool).
std::shared_ptr<Pool> default_pool(const PoolPlace& place);
std::shared_ptr<Pool> current_pool(const PoolPlace& place);
// invalid_value: the pool lies in another place.
Status set_current_pool(const PoolPlace& place, const std::shared_ptr<Pool>& pool);
void forget_current_pools(int device);

Status destroy_pool(const std::shared_ptr<Pool>& pool);  // invalid_value: a default pool

// The pool of a handle, or null.
std::shared_ptr<Pool> find_pool(const void* handle);

// Called by every synchronisation: pools release the reserve beyond their threshold.
void release_idle_pools();

// Allocates from the pool at once (out_of_memory).
Result<std::uint64_t> allocate_from(const std::shared_ptr<Pool>& pool, std::uint64_t bytes);
// Adds memory of another process to a pool. `end` undoes the mapping.
void adopt_into(const std::shared_ptr<Pool>& pool, std::uint64_t address,
                std::function<void()> end);
// The pool that holds `address`, or null.
std::shared_ptr<Pool> pool_of(std::uint64_t address);
// Marks `address` as freed by work queued in a stream. False: it is already marked, or it is no
// allocation.
bool claim_free(std::uint64_t address);
// Frees what claim_free() marked.
void free_claimed(std::uint64_t address);

}  // namespace inflight::cuda
