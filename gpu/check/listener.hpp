// The interface between an execution and its observers: one empty hook per event.
//
// The machine calls topics() once per launch and prepares only those events. A launch without
// listeners pays one predictable branch. Several host threads call hooks at the same time. The
// events of one block are sequential, though not always on the same thread. Those of different
// blocks are concurrent. kernel_begin is the first event of a launch and kernel_end the last.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "gpu/check/events.hpp"

namespace inflight::check {

// A set of event kinds.
enum class Topic : std::uint32_t {
  none = 0,
  kernels = 1u << 0,       // kernel_begin, kernel_end, child_launched
  instructions = 1u << 1,  // executed
  branches = 1u << 2,      // diverged, reconverged
  accesses = 1u << 3,      // accessed
  fences = 1u << 4,
  copies = 1u << 5,  // copy_*, prefetched
  barriers = 1u << 6,
  mbarriers = 1u << 7,
  collectives = 1u << 8,
  waits = 1u << 9,  // waited
  allocations = 1u << 10,
  host = 1u << 11,        // stream_edge, host_accessed, host_touched, device_touched
  addresses = 1u << 12,   // without it, Access::addresses may be null
  blocks = 1u << 13,      // block_begin, block_end, thread_exit
  counts = 1u << 14,      // *_counted: sums, which cost a fraction of what events do
  faults = 1u << 15,      // faulted, call_failed
  multiplies = 1u << 16,  // multiply_*, register_touched
  undefined = 1u << 17,   // undefined_used, and Access::undefined
  hangs = 1u << 18,       // stuck, is_livelocked
  parameters = 1u << 19,  // without it, `accesses` leaves out reads of the kernel's own parameters
  each_read = 1u << 20,   // without it, `accesses` leaves out reads that go to an Access::log
  tensor_memory = 1u << 21,  // tensor_*
  all = (1u << 22) - 1,
};
inline constexpr std::uint32_t topic_count = 22;
constexpr Topic operator|(Topic a, Topic b) {
  return static_cast<Topic>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has(Topic set, Topic topic) {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(topic)) != 0;
}

// X(event struct, hook, topic)
#define INFLIGHT_CHECK_EVENTS(X)                       \
  X(KernelBegin, kernel_begin, kernels)                \
  X(KernelEnd, kernel_end, kernels)                    \
  X(ChildLaunched, child_launched, kernels)            \
  X(BlockBegin, block_begin, blocks)                   \
  X(BlockEnd, block_end, blocks)                       \
  X(ThreadExit, thread_exit, blocks)                   \
  X(Fault, faulted, faults)                            \
  X(Executed, executed, instructions)                  \
  X(Divergence, diverged, branches)                    \
  X(Reconvergence, reconverged, branches)              \
  X(Access, accessed, accesses)                        \
  X(UndefinedUse, undefined_used, undefined)           \
  X(Fence, fenced, fences)                             \
  X(CopyIssued, copy_issued, copies)                   \
  X(Prefetch, prefetched, copies)                      \
  X(CopyCommitted, copy_committed, copies)             \
  X(CopyCompleted, copy_completed, copies)             \
  X(CopyWaited, copy_waited, copies)                   \
  X(MultiplyIssued, multiply_issued, multiplies)       \
  X(MultiplyCommitted, multiply_committed, multiplies) \
  X(MultiplyWaited, multiply_waited, multiplies)       \
  X(RegisterTouched, register_touched, multiplies)     \
  X(TensorAllocation, tensor_allocated, tensor_memory) \
  X(TensorAccess, tensor_accessed, tensor_memory)      \
  X(TensorWork, tensor_work_issued, tensor_memory)     \
  X(TensorStep, tensor_stepped, tensor_memory)         \
  X(Barrier, barrier, barriers)                        \
  X(MbarrierOp, mbarrier, mbarriers)                   \
  X(Collective, collective, collectives)               \
  X(Wait, waited, waits)                               \
  X(Stuck, stuck, hangs)                               \
  X(Allocation, allocation, allocations)               \
  X(StreamEdge, stream_edge, host)                     \
  X(HostAccess, host_accessed, host)                   \
  X(HostTouch, host_touched, host)                     \
  X(DeviceTouch, device_touched, host)                 \
  X(CallFailed, call_failed, faults)                   \
  X(ProcessEnd, process_ended, host)                   \
  X(RunCount, run_counted, counts)                     \
  X(AccessCount, access_counted, counts)               \
  X(BlockCount, blocks_counted, counts)

class Listener {
 public:
  virtual ~Listener() = default;
  // The events that this listener receives, constant for its lifetime. `kernels` is always
  // included.
  virtual Topic topics() const { return Topic::all; }
#define X(Event, hook, topic) \
  virtual void hook(const Event&) {}
  INFLIGHT_CHECK_EVENTS(X)
#undef X
  // Called when threads have only polled memory for a while (Stuck::Why::only_polling). Returns
  // whether no other thread can change what they read. If so, the launch ends and stuck() reports
  // it.
  virtual bool is_livelocked(const Stuck&) { return false; }
};

// Forwards every event to several listeners, in the order in which they were added.
class Listeners : public Listener {
 public:
  // The listener must outlive this object. Call it only before the first event.
  void add(Listener& listener);
  bool empty() const { return topics_ == Topic::none; }
  Topic topics() const override { return topics_; }
#define X(Event, hook, topic) void hook(const Event&) override;
  INFLIGHT_CHECK_EVENTS(X)
#undef X
  bool is_livelocked(const Stuck& event) override;

 private:
  std::array<std::vector<Listener*>, topic_count> listeners_;  // by topic
  Topic topics_ = Topic::none;
};

}  // namespace inflight::check
