// NVML: memory, utilisation and processes. Each process has its own devices and is their only user.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>

#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/management/library.hpp"

namespace inflight::management {
namespace {

Return store_memory(Memory1* to, unsigned ordinal) {
  const cuda::MemoryState state = cuda::memory_state(int(ordinal));
  // Memory that the host lacks counts as used.
  return store(to, Memory1{state.total, state.free, state.total - state.free});
}

Return store_memory(Memory2* to, unsigned ordinal) {
  if (!to) return Return::invalid_argument;
  if (to->version != version_of<Memory2>(2)) return Return::version_mismatch;
  const cuda::MemoryState state = cuda::memory_state(int(ordinal));
  // Nothing is reserved, so that used and free memory add up to the total.
  *to = {to->version, state.total, 0, state.free, state.total - state.free};
  return Return::success;
}

using Time = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

struct Sample {
  Time at;
  Duration kernels{}, memory{};
};

// Utilisation is measured between two calls, but over no less than the shortest sample period of
// NVML.
constexpr std::chrono::milliseconds shortest_period{167};

struct Period {
  Sample begin, end;
};
std::mutex periods_mutex;
std::array<Period, 64> periods;

unsigned percent(Duration part, Duration whole) {
  if (whole.count() <= 0) return 0;
  return unsigned(std::min<std::int64_t>(100, (100 * part + whole / 2) / whole));
}

Return store_utilization(Utilization* to, unsigned ordinal) {
  Sample now{std::chrono::steady_clock::now()};
  if (const cuda::Device* device = in_use(ordinal)) {
    now.kernels = device->kernels.total();
    now.memory = device->accesses.total();
  }
  std::lock_guard lock(periods_mutex);
  Period& period = periods[ordinal];
  if (now.at - period.end.at >= shortest_period) period = {period.end, now};
  const Duration length = period.end.at - period.begin.at;
  return store(to, Utilization{percent(period.end.kernels - period.begin.kernels, length),
                               percent(period.end.memory - period.begin.memory, length)});
}

bool has_context(unsigned ordinal) {
  cuda::Core* core = cuda::Core::existing();
  if (!core) return false;
  return std::ranges::any_of(core->contexts.all(), [&](const auto& each) {
    return each->device->ordinal == int(ordinal) && (!each->primary || each->active);
  });
}

// Stores this process in `to` if it has a context on the device.
template <class Process>
Return store_processes(unsigned ordinal, unsigned* count, Process* to) {
  if (!count) return Return::invalid_argument;
  const unsigned room = *count;
  *count = has_context(ordinal) ? 1 : 0;
  if (*count == 0) return Return::success;
  if (room == 0) return Return::insufficient_size;
  if (!to) return Return::invalid_argument;
  constexpr std::uint32_t no_instance = ~0U;
  Process process{.pid = std::uint32_t(getpid()), .memory = cuda::memory_state(int(ordinal)).used};
  if constexpr (std::is_same_v<Process, Process2>)
    process.gpu_instance = process.compute_instance = no_instance;
  *to = process;
  return Return::success;
}

}  // namespace

INFLIGHT_NVML_DEVICE(nvmlDeviceGetMemoryInfo, (Handle * handle, Memory1* to),
                     { return store_memory(to, ordinal); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetMemoryInfo_v2, (Handle * handle, Memory2* to),
                     { return store_memory(to, ordinal); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetUtilizationRates, (Handle * handle, Utilization* to),
                     { return store_utilization(to, ordinal); })

INFLIGHT_NVML_DEVICE(nvmlDeviceGetComputeRunningProcesses,
                     (Handle * handle, unsigned* count, Process1* to),
                     { return store_processes(ordinal, count, to); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetComputeRunningProcesses_v2,
                     (Handle * handle, unsigned* count, Process2* to),
                     { return store_processes(ordinal, count, to); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetComputeRunningProcesses_v3,
                     (Handle * handle, unsigned* count, Process2* to),
                     { return store_processes(ordinal, count, to); })

// There are no graphics or MPS processes.
#define INFLIGHT_NVML_NO_PROCESSES(name)                                \
  INFLIGHT_NVML_DEVICE(name, (Handle * handle, unsigned* count, void*), \
                       { return store(count, 0U); })
INFLIGHT_NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
INFLIGHT_NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
INFLIGHT_NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
INFLIGHT_NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
INFLIGHT_NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
INFLIGHT_NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)

}  // namespace inflight::management
