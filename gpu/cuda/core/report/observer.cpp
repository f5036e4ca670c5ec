// Reports host events to the listener, and writes statistics.
#include "gpu/cuda/core/report/observer.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "gpu/check/report/json.hpp"
#include "gpu/cuda/core/memory/addresses.hpp"
#include "gpu/cuda/core/report/checking.hpp"
#include "gpu/cuda/core/stream/library_work.hpp"
#include "gpu/cuda/core/watch/watch.hpp"
#include "gpu/host/output_file.hpp"
#include "gpu/machine/link/allocation_events.hpp"
#include "gpu/trace/stats.hpp"

namespace inflight::cuda {

namespace {

std::atomic<check::Listener*> chosen{nullptr};
std::atomic<check::Topic> chosen_topics{check::Topic::none};

trace::Stats* stats() {
  const Settings& chosen = settings();
  const bool fidelity = chosen.fidelity || !chosen.stats_file.empty();
  static trace::Stats* instance =
      chosen.stats || chosen.fidelity ? new trace::Stats(fidelity) : nullptr;
  return instance;
}

// All that the settings request, as one listener. Null: nothing.
check::Listener* of_settings() {
  static check::Listener* const one = []() -> check::Listener* {
    if (!stats() || !checker()) return stats() ? stats() : checker();
    auto* both = new check::Listeners;
    both->add(*stats());
    both->add(*checker());
    return both;
  }();
  return one;
}

void write_json(const std::string& path) {
  const auto wrote = host::replace_file(path, check::dump(stats()->json(), 2) + "\n");
  if (wrote) return;
  report("the statistics could not be written to '" + path + "': " + wrote.error() + ".");
  fail_at_end();
}

}  // namespace

check::Listener* observer() {
  check::Listener* const other = chosen.load(std::memory_order_acquire);
  return other ? other : of_settings();
}

check::Topic observed_topics() {
  if (chosen.load(std::memory_order_acquire)) return chosen_topics.load(std::memory_order_relaxed);
  static const check::Topic topics = of_settings() ? of_settings()->topics() : check::Topic::none;
  return topics;
}

void observe_with(check::Listener* listener) {
  if (listener) chosen_topics.store(listener->topics(), std::memory_order_relaxed);
  chosen.store(listener, std::memory_order_release);
}

void report_observed() {
  if (!stats()) return;
  static std::mutex mutex;
  static std::uint64_t reported = ~std::uint64_t{0};  // launches
  const std::lock_guard lock(mutex);
  std::uint64_t launches = 0;
  for (const auto& kernel : stats()->kernels()) launches += kernel.tally.launches;
  if (launches == std::exchange(reported, launches)) return;
  const Settings& chosen = settings();
  if (!chosen.stats_file.empty()) write_json(chosen.stats_file);
  std::string text = chosen.stats && chosen.stats_file.empty() ? stats()->text() : "";
  if (chosen.fidelity) text += stats()->fidelity_text();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

namespace {

check::StreamEdge edge_in(const Stream& stream, check::StreamEdge::Kind kind, std::uint64_t work) {
  check::StreamEdge event;
  event.kind = kind;
  event.device = stream.device().ordinal;
  event.stream = stream.number();
  event.work = work;
  event.blocking = !stream.non_blocking();
  return event;
}

void observe_dependent(check::StreamEdge::Kind kind, const Stream& stream, std::uint64_t work,
                       std::uint64_t other, bool dependent, bool programmatic = false) {
  if (!observes(check::Topic::host)) return;
  check::StreamEdge event = edge_in(stream, kind, work);
  event.other = other;
  event.dependent = dependent;
  event.programmatic = programmatic;
  observe_edge(event);
}

}  // namespace

void observe_edge(const check::StreamEdge& edge) {
  if (!observes(check::Topic::host)) return;
  watch::report_touches();
  observer()->stream_edge(edge);
  watch::follow(edge);
}

void observe_edge(check::StreamEdge::Kind kind, const Stream& stream, std::uint64_t work,
                  std::uint64_t other, std::uint64_t other_work) {
  if (!observes(check::Topic::host)) return;
  check::StreamEdge event = edge_in(stream, kind, work);
  event.other = other, event.other_work = other_work;
  observe_edge(event);
}

void observe_launch(const Stream& stream, std::uint64_t work, std::uint64_t launch, bool dependent,
                    bool programmatic) {
  observe_dependent(check::StreamEdge::Kind::launch, stream, work, launch, dependent, programmatic);
}

void observe_step(const Stream& stream, std::uint64_t work, std::uint64_t step) {
  observe_dependent(check::StreamEdge::Kind::step, stream, work, step, false);
}

void observe_step_after(const Stream& stream, std::uint64_t work, std::uint64_t other,
                        bool dependent) {
  observe_dependent(check::StreamEdge::Kind::step_after, stream, work, other, dependent);
}

// An empty copy or fill accesses nothing, however many rows it has.
void observe_copy(const Stream& stream, const Copy& copy) {
  if (!observes(check::Topic::host) || !copy.width || !copy.height) return;
  check::HostAccess event;
  event.stream = stream.number();
  event.work = Stream::work_now();
  event.asynchronous = !copy.awaited;
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
