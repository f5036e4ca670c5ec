// Values that streams and graphs write to memory and wait for.
#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

class Stream;

// CUstreamBatchMemOpParams: a union of 48 bytes that begins with the kind.
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
  unsigned flags = 0;          // of the other kinds
  std::uint64_t internal = 0;  // private to the driver
  std::uint64_t rest = 0;
};
static_assert(sizeof(ValueOperation) == 48);

// A batch of value operations, done in order.
struct ValueWork {
  std::vector<ValueOperation> operations;
  void* context = nullptr;  // in a graph's node: the context it names
  unsigned flags = 0;
};

// Checks all but the memory, which a graph's node looks up when it runs (not_supported: it flushes
// remote writes).
Status check(const ValueWork& work);
// Checks the addresses (invalid_value: no memory at one of them).
Status check_places(const ValueWork& work);
// Does the whole batch. An address without memory kills the device's context.
void perform(const ValueWork& work, Stream& stream);
// False: the operation would have to wait now.
bool can_go_on(const ValueOperation& operation);
// Does one operation that can go on. False: no memory there, and the device's context is dead.
bool perform(const ValueOperation& operation, Stream& stream);
inline constexpr std::chrono::microseconds poll_interval{20};  // of a value that is waited for
bool waits_for_any(const ValueWork& work);

// True if a node of an instantiated graph may change from `before` to `after`. Only addresses,
// values and the kind of comparison may differ.
bool may_become(const ValueWork& before, const ValueWork& after);

// The work for a program's list, which may be empty (invalid_value: it is too long, or flags are
// set).
Result<ValueWork> value_work(const ValueOperation* list, unsigned count, unsigned flags);

}  // namespace inflight::cuda
