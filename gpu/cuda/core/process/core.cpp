// The composition of all rooms: the process's one core, what a device's synchronisation and reset
// do in each of them, and the shutdown at exit.
#include "gpu/cuda/core/queue/core.hpp"

#include <pthread.h>

#include <cstdlib>
#include <string>

#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/cuda/core/base/lifetime.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/visible.hpp"
#include "gpu/cuda/core/calls/shared_memory.hpp"
#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/graph/graph_memory.hpp"
#include "gpu/cuda/core/memory/events.hpp"
#include "gpu/cuda/core/memory/host_limits.hpp"
#include "gpu/cuda/core/memory/host_memory.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/modules/module.hpp"
#include "gpu/cuda/core/modules/registry.hpp"
#include "gpu/cuda/core/queue/edges.hpp"
#include "gpu/cuda/core/report/checking.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/report/refusals.hpp"
#include "gpu/cuda/core/texture/array.hpp"
#include "gpu/cuda/core/watch/calls.hpp"
#include "gpu/cuda/core/watch/device_memory.hpp"
#include "gpu/cuda/core/watch/watch.hpp"
#include "gpu/host/awake_time.hpp"

namespace inflight::cuda {
namespace {

std::atomic<Core*> the_core{nullptr};

}  // namespace

Status Device::synchronize() {
  const watch::Waiting nothing_held(!Stream::on_worker());
  {
    const PrintfFifo::Waiting waiting(printed);
    for (const auto& stream : streams()) stream->synchronize();
    release_idle_pools();
  }
  if (observes(check::Topic::host))
    observe_edge(check::StreamEdge::Kind::device_sync, *legacy(), 0);
  return fault();
}

void Device::reset() {
  const bool faulted = synchronize() != Status::success;
  Core& core = Core::get();
  for (const auto& stream : core.streams.all())
    if (&stream->device() == this) core.streams.remove(stream.get());
  for (const auto& event : core.events.all())
    if (&event->device() == this) core.events.remove(event.get());
  for (const auto& each : core.pools.all())
    if (each->device == ordinal) each->forget_all();
  forget_current_pools(ordinal);
  GraphMemory::forget(ordinal);
  release_host_memory(ordinal);
  forget_imported(ordinal);
  forget_arrays(ordinal);
  for (const machine::Allocation& each : core.memory.live())
    if (each.device == ordinal &&
        (each.kind == machine::AllocationKind::device ||
         (each.kind == machine::AllocationKind::managed && each.name.empty())))
      core.memory.release(each.base);
  for (int other = 0; other < core.device_count(); ++other)
    core.memory.set_peer_access(ordinal, other, false);
  Registry::get().reset(ordinal);
  restore_limits();
  // As on an H200, a process whose kernel faulted never gets a working context again.
  if (faulted) fault_ = Status::device_unavailable;
}

namespace {

// At exit, pending work may run for `grace` more. Then launches are cancelled, and the process
// waits only for work that cannot be cancelled (a copy, a host function). Pauses of the host do not
// count, so what a short kernel does does not depend on them. Under check the work takes longer,
// and what is cancelled is not checked.
constexpr std::chrono::milliseconds grace{100}, checked_grace{2000};
constexpr std::chrono::seconds last_wait{10};

// Returns what was left undone.
check::LeftUndone finish(const std::vector<Device*>& devices) {
  const auto is_done = [](const Device& device, std::chrono::milliseconds time) {
    return host::wait_awake(time, [&](auto deadline) { return device.wait_until(deadline); });
  };
  watch::queried();  // nothing is held back any more
  const auto longest = settings().check.on ? checked_grace : grace;
  for (Device* device : devices)
    if (!is_done(*device, longest)) device->cancel = true;
  check::LeftUndone left;
  for (Device* device : devices) {
    if (!is_done(*device, last_wait))
      for (const auto& stream : device->streams()) left.dropped += stream->waiting();
    left += {device->stopped, device->dropped};
  }
  for (Device* device : devices)
    if (const std::uint64_t bytes = device->printed.unshown())
      report(std::to_string(bytes) +
             " bytes that kernels printed were lost, as on a GPU: the program ended without "
             "synchronising after the launch.");
  return left;
}

void end_process() {
  note_end();
  if (process_forked()) return;     // the worker threads stayed with the parent
  if (Stream::on_worker()) return;  // a host function called exit()
  guarded("the end of the program", [] {
    Core& core = Core::get();
    std::vector<Device*> devices;
    for (int i = 0; i < core.device_count(); ++i) devices.push_back(&core.device(i));
    const check::LeftUndone left = finish(devices);
    report_refusals();
    report_observed();
    if (checker()) watch::end();
    conclude_checking(left);
    return Status::success;
  });
}

}  // namespace

Core::Core()
    : memory(settings().devices, chosen_profile().memory,
             settings().memory.value_or(default_host_share())),
      profile_(chosen_profile()) {
  memory.observe(observe_memory);
  if (watch::enabled()) watch::prepare_calls();
  watch::watch_device_memory(memory, Stream::on_worker);
  const auto seen =
      visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), std::getenv("CUDA_DEVICE_ORDER"),
                      settings().devices, [&](int index) { return uuid_text(profile_, index); });
  visible_ = seen ? Status::success : seen.error();
  for (const int index : seen.value_or(std::vector<int>{0})) add_device(index);
  std::atexit(end_process);
  pthread_atfork(nullptr, nullptr, note_fork);
  the_core.store(this, std::memory_order_release);
}

Core& Core::get() {
  static Core& core = *new Core;
  return core;
}

Core* Core::existing() { return forked() ? nullptr : the_core.load(std::memory_order_acquire); }

}  // namespace inflight::cuda
