// Checks and does operations on values in memory.
#include "gpu/cuda/core/work/value_operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <type_traits>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/queue/edges.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/machine/memory/ranges.hpp"
#include "gpu/machine/memory/strong_order.hpp"

namespace inflight::cuda {
namespace {

// CUstreamWaitValue_flags. No device can flush remote writes (Attribute::CanFlushRemoteWrites).
enum Comparison : unsigned { at_least = 0, equal = 1, common_bits = 2, not_or = 3 };
constexpr unsigned flush = 1u << 30, no_barrier = 1, device_barrier = 1, longest_batch = 255;

using Operation = ValueOperation;

bool waits(const Operation& o) {
  return o.kind == Operation::wait_32 || o.kind == Operation::wait_64;
}
bool writes(const Operation& o) {
  return o.kind == Operation::write_32 || o.kind == Operation::write_64;
}
std::size_t width(const Operation& o) {
  return o.kind == Operation::wait_32 || o.kind == Operation::write_32 ? 4 : 8;
}

template <class T>
bool holds(T now, T value, unsigned comparison) {
  switch (comparison) {
    case at_least:
      return std::make_signed_t<T>(now - value) >= 0;
    case equal:
      return now == value;
    case common_bits:
      return (now & value) != 0;
    default:
      return T(~(now | value)) != 0;
  }
}

template <class T>
std::atomic_ref<T> at(const Operation& o) {
  return std::atomic_ref<T>(*static_cast<T*>(pointer_to(o.memory)));
}

Status check_one(const Operation& o) {
  if (o.kind == Operation::flush_writes) return Status::not_supported;
  if (o.kind == Operation::barrier)
    return o.fence_flags <= device_barrier ? Status::success : Status::invalid_value;
  if (!waits(o) && !writes(o)) return Status::invalid_value;
  if (waits(o) ? (o.flags & ~flush) > not_or : (o.flags & ~no_barrier) != 0)
    return Status::invalid_value;
  if (o.memory % width(o) != 0) return Status::invalid_value;
  return waits(o) && (o.flags & flush) ? Status::not_supported : Status::success;
}

bool has_place(const Operation& o) {
  if (!waits(o) && !writes(o)) return true;
  const auto found = Core::get().memory.find(o.memory);
  const auto value = ByteRange::of(o.memory, width(o));
  return found && value && machine::range_of(*found).contains(*value);
}

template <class T>
bool holds_now(const Operation& o) {
  const machine::HostView::Access open(Core::get().memory.host_view());
  return holds(at<T>(o).load(std::memory_order_acquire), T(o.value), o.flags);
}

template <class T>
void put(const Operation& o) {
  const machine::HostView::Access open(Core::get().memory.host_view());
  at<T>(o).store(T(o.value), std::memory_order_release);
}

// False: the device has a fault, or the program is exiting.
bool wait(const Operation& o, const Device& device) {
  while (!can_go_on(o)) {
    if (device.cancel || device.fault() != Status::success) return false;
    std::this_thread::sleep_for(poll_interval);
  }
  return true;
}

// Compares the parts that may not change in an instantiated graph.
bool same_but_values(const Operation& a, const Operation& b) {
  if (a.kind != b.kind) return false;
  return waits(a) || (writes(a) ? a.flags == b.flags : a.fence_flags == b.fence_flags);
}

}  // namespace

Status check(const ValueWork& work) {
  for (const Operation& o : work.operations)
    if (const Status status = check_one(o); status != Status::success) return status;
  return Status::success;
}

Status check_places(const ValueWork& work) {
  const bool all = std::all_of(work.operations.begin(), work.operations.end(), has_place);
  return all ? Status::success : Status::invalid_value;
}

bool can_go_on(const Operation& o) {
  if (!waits(o) || !has_place(o)) return true;
  return width(o) == 4 ? holds_now<std::uint32_t>(o) : holds_now<std::uint64_t>(o);
}

// Barriers do nothing, because all writes here become visible in order.
bool perform(const Operation& o, Stream& stream) {
  if (!has_place(o)) {
    stream.device().kill(Status::illegal_address,
                         fmt::format("A {} {} {:#x}, where there is no memory.",
                                     waits(o) ? "wait for a value" : "write of a value",
                                     waits(o) ? "reads" : "writes to", o.memory));
    return false;
  }
  using Kind = check::StreamEdge::Kind;
  if (waits(o) && observes(check::Topic::host)) {
    // The kernel whose store ended the wait has then reported it.
    { const std::lock_guard reported(machine::strong_order()); }
    observe_edge(Kind::value_wait, stream, Stream::work_now(), o.memory);
  }
  if (writes(o)) {  // reported before anybody can see the value
    observe_edge(Kind::value_write, stream, Stream::work_now(), o.memory);
    width(o) == 4 ? put<std::uint32_t>(o) : put<std::uint64_t>(o);
  }
  return true;
}

void perform(const ValueWork& work, Stream& stream) {
  for (const Operation& o : work.operations)
    if (!wait(o, stream.device()) || !perform(o, stream)) return;
}

bool waits_for_any(const ValueWork& work) {
  return std::any_of(work.operations.begin(), work.operations.end(), waits);
}

bool may_become(const ValueWork& before, const ValueWork& after) {
  return before.context == after.context && before.flags == after.flags &&
         std::equal(before.operations.begin(), before.operations.end(), after.operations.begin(),
                    after.operations.end(), same_but_values);
}

Result<ValueWork> value_work(const ValueOperation* list, unsigned count, unsigned flags) {
  if ((!list && count != 0) || count > longest_batch || flags != 0)
    return fail(Status::invalid_value);
  return ValueWork{{list, list + count}, nullptr, flags};
}

}  // namespace inflight::cuda
