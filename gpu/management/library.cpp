// The state of the library: a count of initialisations, and a handle for each device.
#include "gpu/management/library.hpp"

#include <array>
#include <atomic>
#include <cstring>

#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::management {

// Only its address is used.
struct Handle {};

namespace {

constexpr unsigned most_devices = 64;  // the maximum of INFLIGHT_DEVICES
std::array<Handle, most_devices> handles;
std::atomic<int> initializations{0};

}  // namespace

void initialize() { ++initializations; }

Return shut_down() {
  int count = initializations;
  while (count > 0) {
    if (initializations.compare_exchange_weak(count, count - 1)) return Return::success;
  }
  return Return::uninitialized;
}

bool initialized() { return initializations > 0; }

const cuda::Profile& profile() { return cuda::chosen_profile(); }

unsigned device_count() { return unsigned(cuda::settings().devices); }

Handle* handle_of(unsigned ordinal) { return &handles[ordinal]; }

std::optional<unsigned> ordinal_of(const Handle* handle) {
  for (unsigned i = 0; i < device_count(); ++i)
    if (handle == &handles[i]) return i;
  return std::nullopt;
}

cuda::Device* in_use(unsigned ordinal) {
  cuda::Core* core = cuda::Core::existing();
  for (int i = 0; core && i < core->device_count(); ++i)
    if (core->device(i).index == int(ordinal)) return &core->device(i);
  return nullptr;
}

Return store_text(std::string_view text, char* to, unsigned bytes) {
  if (!to) return Return::invalid_argument;
  if (text.size() >= bytes) return Return::insufficient_size;
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return Return::success;
}

Return of_exception(const char* name) {
  return cuda::status_of_exception(name) == cuda::Status::out_of_memory ? Return::memory
                                                                        : Return::unknown;
}

}  // namespace inflight::management
