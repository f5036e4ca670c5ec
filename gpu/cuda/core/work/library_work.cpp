// Checks the memory that a library's call accesses, and reports wrong accesses.
#include "gpu/cuda/core/work/library_work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/machine/memory/ranges.hpp"

namespace inflight::cuda {
namespace {

// Reports that `call` reads or writes a region in the stream's current work.
void observe_region(const Stream& stream, std::string_view call, const Region& region) {
  if (!observes(check::Topic::host)) return;
  check::HostAccess event;
  event.kind = region.written ? check::HostAccess::Kind::set : check::HostAccess::Kind::copy;
  event.stream = stream.number();
  event.work = Stream::work_now();
  event.asynchronous = true;
  event.call = call;
  (region.written ? event.destination : event.source) = address_of(region.address);
  (region.written ? event.destination_pitch : event.source_pitch) = region.pitch.value_or(0);
  event.bytes = region.bytes.value_or(0);
  event.rows = region.rows;
  observer()->host_accessed(event);
}

}  // namespace

bool Touch::allowed(const Region& region) const {
  const std::uint64_t begin = address_of(region.address);
  const Checked bytes = region.span();
  Device& device = stream_.device();
  const machine::Memory& memory = Core::get().memory;
  const auto range = ByteRange::of(begin, bytes);
  if (range && machine::may_use(memory, device.ordinal, *range, region.written)) return true;
  std::string where = "the device can access no memory there";
  if (const auto near = memory.find(begin))
    where = fmt::format("the allocation there has {} bytes from {:#x} on{}", near->size, near->base,
                        near->writable ? "" : " and is read-only");
  device.kill(Status::illegal_address,
              fmt::format("{} {} {} at {:#x}: {}.", call_, region.written ? "writes" : "reads",
                          bytes.exact() ? fmt::format("{} bytes", bytes.value_or(0))
                                        : "more than 2^64-1 bytes",
                          begin, where));
  return false;
}

bool Touch::operator()(std::span<const Region> regions) const {
  if (!std::ranges::all_of(regions,
                           [&](const Region& each) { return each.empty() || allowed(each); }))
    return false;
  for (const Region& each : regions)
    if (!each.empty()) observe_region(stream_, call_, each);
  return true;
}

void Touch::fail(std::string_view sentence) const {
  stream_.device().kill(Status::launch_failed, fmt::format("{}: {}", call_, sentence));
}

}  // namespace inflight::cuda
