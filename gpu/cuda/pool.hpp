// Memory pools: stream-ordered allocation.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "gpu/cuda/status.hpp"

namespace inflight::cuda {

class Stream;

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

// Memory goes back to the device when it is freed, whatever the release threshold; what programs
// can read of the reserve is kept as CUDA would count it, in steps of 32 MiB.
class Pool {
 public:
  Pool(int device, bool is_default, std::uint64_t max_bytes = 0)
      : device(device), is_default(is_default), max_bytes_(max_bytes) {}
  static std::shared_ptr<Pool> of_device(int device);  // the default pool

  Result<std::uint64_t> allocate(std::uint64_t bytes);
  // Stops counting the allocation. False: not of this pool.
  bool release(std::uint64_t address);
  bool holds(std::uint64_t address) const;
  void trim(std::uint64_t keep_bytes);
  void forget_all();

  Result<std::uint64_t> attribute(int which) const;
  Status set_attribute(int which, std::uint64_t value);
  // cudaMemAccessFlags by their numbers: 0 none, 3 read and write.
  unsigned access(int from_device) const;
  Status set_access(int from_device, unsigned flags);

  const int device;
  const bool is_default;

 private:
  void count();
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> live_;  // bytes by address
  std::map<int, unsigned> access_;
  std::uint64_t max_bytes_, reuse_[4] = {0, 1, 1, 1}, threshold_ = 0;
  std::uint64_t used_ = 0, used_high_ = 0, reserved_ = 0, reserved_high_ = 0;
};

// The pool that holds `address`, or null.
std::shared_ptr<Pool> pool_of(std::uint64_t address);
// Marks `address` as freed in some stream's future; false if it was already or is no allocation.
bool claim_free(std::uint64_t address);
// Ends what claim_free() marked.
void free_claimed(std::uint64_t address);

}  // namespace inflight::cuda
