// The process's watch: the effect of streams and waits on its pages, and the reports of touches.
#include "gpu/cuda/core/watch/watch.hpp"

#include <pthread.h>

#include <memory>
#include <mutex>

#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/watch/calls.hpp"
#include "gpu/cuda/core/watch/closing.hpp"
#include "gpu/cuda/core/watch/device_memory.hpp"
#include "gpu/cuda/core/watch/faults.hpp"
#include "gpu/cuda/core/watch/holding.hpp"
#include "gpu/cuda/core/watch/host_places.hpp"

namespace inflight::cuda::watch {
namespace {

struct Watch {
  Closing closing;
  TouchLog log;
  std::mutex reporting;  // held while touches are reported; guards `places`
  HostPlaces places;
};
std::atomic<Watch*> the_watch{nullptr};
Watch* existing() { return the_watch.load(std::memory_order_acquire); }

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto* const watch = new Watch;
    if (!catch_touches(watch->closing, watch->log)) return;
    pthread_atfork([] { existing()->closing.lock(); }, [] { existing()->closing.unlock(); },
                   [] {
                     existing()->closing.open_all();
                     existing()->log.forget();
                     existing()->closing.unlock();
                   });
    the_watch.store(watch, std::memory_order_release);
  });
}

}  // namespace

bool enabled() { return settings().check.on; }

bool active() {
  const Watch* const watch = existing();
  return watch && watch->closing.any();
}

void made(const machine::Allocation& allocation) {
  using Kind = machine::AllocationKind;
  if (!enabled() || (allocation.kind != Kind::managed && allocation.kind != Kind::host)) return;
  start();
  if (Watch* const watch = existing()) watch->closing.made(allocation);
}

void released(const machine::Allocation& allocation) {
  if (Watch* const watch = existing()) watch->closing.released(allocation);
}

void follow(const check::StreamEdge& edge) {
  using Kind = check::StreamEdge::Kind;
  Watch* const watch = existing();
  if (!watch) return;
  switch (edge.kind) {
    case Kind::submitted:
      if (!watch->closing.any()) return;
      prepare_calls();
      return watch->closing.submitted(edge.device, edge.stream, edge.work);
    case Kind::stream_sync:
    case Kind::event_sync:
      return watch->closing.known(edge.stream, edge.work);
    case Kind::device_sync:
      return watch->closing.all_known(edge.device);
    default:
      return;
  }
}

void report_touches() {
  report_device_touches();
  Watch* const watch = existing();
  if (!watch || watch->log.empty()) return;
  const std::lock_guard lock(watch->reporting);
  watch->log.take([&](const Touch& touch) {
    const std::string* const place = watch->places.of(touch);
    if (!place || !observes(check::Topic::host)) return;
    observer()->host_touched({touch.address, touch.bytes, touch.write, *place});
  });
}

void end() {
  report_touches();
  if (Watch* const watch = existing()) watch->closing.end();
}

Working::Working() : counted_(active()) {
  if (!counted_) return;
  report_touches();
  existing()->closing.begin_work();
}
Working::~Working() {
  if (counted_) existing()->closing.end_work();
}

void touched_by_call(const void* address, std::uint64_t bytes, bool write, const void* code) {
  Watch* const watch = existing();
  const auto at = reinterpret_cast<std::uint64_t>(address);
  device_touched_by_call(at, bytes, write, code);
  if (!watch || bytes == 0 || !watch->closing.open_range(at, bytes)) return;
  watch->log.add([&](Touch& touch) {
    touch.address = at, touch.bytes = bytes, touch.write = write;
    touch.code = reinterpret_cast<std::uint64_t>(code);
    touch.stack.fill(0);
  });
}

void begin_wait() { existing()->closing.begin_wait(); }
void end_wait() { existing()->closing.end_wait(); }

}  // namespace inflight::cuda::watch
