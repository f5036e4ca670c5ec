// Handles the signals of accesses to closed device memory.
#include "gpu/cuda/core/watch/device_memory.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>

#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/watch/faults.hpp"
#include "gpu/cuda/core/watch/host_places.hpp"
#include "gpu/cuda/core/watch/objects.hpp"
#include "gpu/cuda/core/watch/touch_log.hpp"
#include "gpu/cuda/core/watch/watch.hpp"
#include "gpu/host/own_code.hpp"
#include "gpu/machine/link/allocation_events.hpp"
#include "gpu/machine/memory/faults.hpp"

namespace inflight::cuda::watch {
namespace {

struct DeviceWatch {
  machine::Memory& memory;
  bool (*const performs_work)();
  TouchLog log;
  std::mutex reporting;  // guards `places`
  HostPlaces places;
};
std::atomic<DeviceWatch*> the_device_watch{nullptr};
DeviceWatch* device_watch() { return the_device_watch.load(std::memory_order_acquire); }

bool has_transport() {
  bool found = false;
  each_object([&](const dl_phdr_info& object) { found |= is_transport(object.dlpi_name); });
  return found;
}

// What the address is, for a sentence.
std::string description(const DeviceWatch& watch, std::uint64_t address) {
  const auto found = watch.memory.find(address);
  if (!found)
    return fmt::format("0x{:x}, which is in a device's memory and in no allocation", address);
  const std::string whose = found->name.empty()
                                ? fmt::format("bytes at 0x{:x}", found->base)
                                : fmt::format("bytes of the variable {}", found->name);
  return fmt::format("device memory: byte {} of the {} {} on device {}", address - found->base,
                     found->size, whose, found->device);
}

// The thread is in the program's code, so it holds none of our locks.
void explain_touch(DeviceWatch& watch, const Touch& touch) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  const std::lock_guard lock(watch.reporting);
  const std::string* const place = watch.places.of(touch);
  const std::string text = fmt::format(
      "inflight: {} {} {}. On a GPU only kernels and copies can access it, and the process ends "
      "with SIGSEGV. Copy it with cudaMemcpy, or allocate memory that both can access with "
      "cudaMallocManaged. (INFLIGHT_HOST_ACCESS=1 allows the access.)\n",
      place ? *place : "host code", touch.write ? "writes" : "reads",
      description(watch, touch.address));
  [[maybe_unused]] const auto done = write(STDERR_FILENO, text.data(), text.size());
}

bool on_device_fault(siginfo_t* info, void* context) {
  if (info->si_code != SEGV_ACCERR) return false;
  DeviceWatch& watch = *device_watch();
  machine::HostView& view = watch.memory.host_view();
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (!view.holds(address)) return false;
  const int error = errno;
  const bool ours = view.is_open() || Call::is_inside() || watch.performs_work() ||
                    host::is_access_of_ours(context);
  if (!ours && has_transport()) {
    view.leave_open();
    errno = error;
    return true;
  }
  bool goes_on = ours;
  if (!ours) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
    if (enabled()) {
      watch.log.add([&](Touch& touch) { note(touch, address, machine); });
      goes_on = true;
    } else {
      Touch touch;
      note(touch, address, machine);
      explain_touch(watch, touch);
    }
  }
  goes_on = goes_on && view.open();
  errno = error;
  return goes_on;
}

void report_touch(DeviceWatch& watch, const Touch& touch) {
  const std::string* const place = watch.places.of(touch);
  if (!place || !observes(check::Topic::host)) return;
  check::DeviceTouch event;
  event.touch = {touch.address, touch.bytes, touch.write, *place};
  const auto found = watch.memory.find(touch.address);
  if (found) {
    event.kind = machine::event_kind(found->kind);
    event.device = found->device;
    event.base = found->base, event.bytes = found->size;
    event.name = found->name;
  }
  observer()->device_touched(event);
}

}  // namespace

// ThreadSanitizer's library accesses memory for the code that it instruments, ours as well as the
// program's, so it cannot be told whose an access is.
#ifdef __SANITIZE_THREAD__
constexpr bool tells_whose = false;
#else
constexpr bool tells_whose = true;
#endif

void watch_device_memory(machine::Memory& memory, bool (*performs_work)()) {
  if (settings().host_access || !tells_whose || has_transport()) return;
  host::find_own_code();
  the_device_watch.store(new DeviceWatch{memory, performs_work, {}, {}, {}},
                         std::memory_order_release);
  if (!machine::answer_faults(on_device_fault)) return;
  using Effort = machine::HostView::Effort;
  memory.host_view().close(enabled() ? Effort::full : Effort::sparing);
}

void report_device_touches() {
  DeviceWatch* const watch = device_watch();
  if (!watch || watch->log.empty()) return;
  const std::lock_guard lock(watch->reporting);
  watch->log.take([&](const Touch& touch) { report_touch(*watch, touch); });
}

void device_touched_by_call(std::uint64_t address, std::uint64_t bytes, bool write,
                            const void* code) {
  DeviceWatch* const watch = device_watch();
  if (!watch || bytes == 0 || !watch->memory.host_view().holds(address)) return;
  watch->log.add([&](Touch& touch) {
    touch.address = address, touch.bytes = bytes, touch.write = write;
    touch.code = reinterpret_cast<std::uint64_t>(code);
    touch.stack.fill(0);
  });
}

}  // namespace inflight::cuda::watch
