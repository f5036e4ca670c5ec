// Values that streams and graphs write to memory and wait for.
#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

class Stream;

// CUstreamBatchMemOpParams: a union of 48 bytes, its kind first.
struct ValueOperation {
  enum Kind : int {
    wait_32 = 1,
    write_32 = 2,
    flush_writes = 3,
    wait_64 = 4,
    write_64 = 5,
    barrier = 6,
  };
  int kind = 0;
  unsigned fence_flags = 0;  // of flush_writes and barrier
  std::uint64_t memory = 0;
  std::uint64_t value = 0;
  unsigned flags = 0;          // of the others
  std::uint64_t internal = 0;  // the driver's own
  std::uint64_t rest = 0;
};
static_assert(sizeof(ValueOperation) == 48);

// One batch of them, done in order.
struct ValueWork {
  std::vector<ValueOperation> operations;
  void* context = nullptr;  // that a graph's node names
  unsigned flags = 0;
};

// What a graph's node may be: memory is looked for once the node runs (not_supported: it flushes
// remote writes).
Status check(const ValueWork& work);
// invalid_value: a place where there is no memory.
Status check_places(const ValueWork& work);
// A place where there is no memory by now ends the device's context.
void perform(const ValueWork& work, Stream& stream);
// One of them: false, it would wait now.
bool can_go_on(const ValueOperation& operation);
// One that can go on. False: the device's context has ended.
bool perform(const ValueOperation& operation, Stream& stream);
inline constexpr std::chrono::microseconds between_looks{20};  // of those that wait
bool waits_for_any(const ValueWork& work);

// Can an instantiated graph's node become the other? Only what is waited for and written may
// differ: places, values and the kind of comparison.
bool may_become(const ValueWork& before, const ValueWork& after);

// A list from a program, perhaps empty (invalid_value: it is too long, or flags are set).
Result<ValueWork> value_work(const ValueOperation* list, unsigned count, unsigned flags);

}  // namespace inflight::cuda
