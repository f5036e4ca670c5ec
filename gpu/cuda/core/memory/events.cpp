// Fills in the events of copies, fills and allocations.
#include "gpu/cuda/core/memory/events.hpp"

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/watch/watch.hpp"
#include "gpu/machine/link/allocation_events.hpp"

namespace inflight::cuda {

// An empty copy or fill accesses nothing, however many rows it has.
void observe_copy(const Stream& stream, const Copy& copy) {
  if (!observes(check::Topic::host) || !copy.width || !copy.height) return;
  check::HostAccess event;
  event.stream = stream.number();
  event.work = Stream::work_now();
  event.asynchronous = !copy.awaited;
  event.staged = copy.staged;
  const bool pageable_source = pageable(copy.from);
  event.destination_pitch = copy.to_pitch;
  event.source_pitch = copy.from_pitch;
  event.bytes = copy.width;
  event.rows = copy.height;
  const ByteBox written = copy.destination(), read = copy.source();
  for (std::uint64_t slice = 0; slice < copy.depth; ++slice) {
    event.destination = address_of(copy.to) + written.offset(slice, 0);
    if (!pageable_source) event.source = address_of(copy.from) + read.offset(slice, 0);
    observer()->host_accessed(event);
  }
}

void observe_fill(const Stream& stream, const Fill& fill) {
  if (!observes(check::Topic::host) || !fill.width || !fill.height) return;
  check::HostAccess event;
  event.kind = check::HostAccess::Kind::set;
  event.stream = stream.number();
  event.work = Stream::work_now();
  event.asynchronous = fill.asynchronous;
  event.destination_pitch = fill.pitch;
  const ByteBox box = fill.destination();
  event.bytes = box.bytes;
  event.rows = box.rows;
  for (std::uint64_t slice = 0; slice < box.slices; ++slice) {
    event.destination = address_of(fill.to) + box.offset(slice, 0);
    observer()->host_accessed(event);
  }
}

void observe_memory(const machine::Allocation& allocation, bool made) {
  made ? watch::made(allocation) : watch::released(allocation);
  const check::Allocation::Kind kind = machine::event_kind(allocation.kind);
  // Kernels report heap memory themselves, together with the thread.
  if (kind == check::Allocation::Kind::heap || !observes(check::Topic::allocations)) return;
  check::Allocation event;
  event.step = made ? check::Allocation::Step::made : check::Allocation::Step::released;
  event.kind = kind;
  event.device = allocation.device;
  event.address = allocation.base;
  event.bytes = allocation.size;
  event.name = allocation.name;
  event.fresh = allocation.fresh;
  observer()->allocation(event);
}

void observe_release(const machine::Allocation& allocation) {
  if (!observes(check::Topic::allocations)) return;
  check::Allocation event;
  event.step = check::Allocation::Step::released;
  event.kind = check::Allocation::Kind::pool;
  event.device = allocation.device;
  event.address = allocation.base;
  event.bytes = allocation.size;
  observer()->allocation(event);
}

void observe_ordered(check::Allocation::Step step, std::uint64_t address, std::uint64_t bytes,
                     const Stream& stream) {
  if (!observes(check::Topic::allocations)) return;
  check::Allocation event;
  event.step = step;
  event.kind = check::Allocation::Kind::pool;
  event.device = stream.device().ordinal;
  event.address = address;
  event.bytes = bytes;
  event.ordered = true;
  event.stream = stream.number();
  observer()->allocation(event);
}

}  // namespace inflight::cuda
