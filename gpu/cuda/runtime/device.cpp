// Devices: their number, selection, properties and settings.
#include <algorithm>
#include <cstring>

#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/calls/devices.hpp"
#include "gpu/cuda/core/calls/links.hpp"
#include "gpu/cuda/core/calls/notices.hpp"
#include "gpu/cuda/core/calls/pci.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

constexpr unsigned known_flags = 0x1f | 0x80;  // scheduling, mapping, local memory, sync memops
constexpr unsigned map_host_flag = 0x08;

// A query of one device. Runs body(Device&).
template <class Body>
int about(int ordinal, Body body, const char* call = __builtin_FUNCTION()) {
  return query(
      [&]() -> Status {
        if (!device_exists(ordinal)) return Status::invalid_device;
        return as_status(body(Core::get().device(ordinal)));
      },
      call);
}

template <class Value>
int store(int* place, Value value, const char* call = __builtin_FUNCTION()) {
  return query(
      [&] {
        if (!place) return Status::invalid_value;
        *place = value();
        return Status::success;
      },
      call);
}
int accept(const char* call = __builtin_FUNCTION()) {
  return query([] { return Status::success; }, call);
}

}  // namespace

INFLIGHT_API int cudaGetDeviceCount(int* count) {
  if (!Core::forked() || !count) return store(count, [] { return Core::get().device_count(); });
  // As on an H200, this works in a forked child too.
  return record(guarded("cudaGetDeviceCount", [&] {
    if (Core::get().visible() != Status::success) return Core::get().visible();
    *count = Core::get().device_count();
    return Status::success;
  }));
}

INFLIGHT_API int cudaDriverGetVersion(int* place) {
  return store(place, [] { return settings().driver_version; });
}
// Does not initialise the driver, so a process that has called nothing else may still fork.
INFLIGHT_API int cudaRuntimeGetVersion(int* place) {
  return record(store_value(place, cuda_version));
}

INFLIGHT_API int cudaSetDevice(int ordinal) {
  return about(ordinal, [&](Device&) {
    set_current_context(&Core::get().primary(ordinal));
    use_in_runtime(Core::get().primary(ordinal));
    return Status::success;
  });
}

INFLIGHT_API int cudaInitDevice(int ordinal, unsigned, unsigned) {
  return about(ordinal, [&](Device&) {
    use_in_runtime(Core::get().primary(ordinal));
    return Status::success;
  });
}

INFLIGHT_API int cudaSetValidDevices(int* ordinals, int count) {
  return query([&] {
    if (count < 0 || (count > 0 && !ordinals)) return Status::invalid_value;
    const bool all = std::all_of(ordinals, ordinals + count, device_exists);
    return all ? Status::success : Status::invalid_device;
  });
}

INFLIGHT_API int cudaGetDevice(int* ordinal) {
  return store(ordinal, [] { return current_device().ordinal; });
}

INFLIGHT_API int cudaGetDeviceProperties(void* properties, int ordinal) {
  return about(ordinal, [&](Device& device) {
    if (!properties) return Status::invalid_value;
    fill_properties(device.profile, device.index, properties);
    return Status::success;
  });
}

INFLIGHT_API int cudaDeviceGetAttribute(int* value, int attribute, int ordinal) {
  return about(ordinal, [&](Device& device) {
    auto found = device.profile.attribute(attribute, device.index);
    if (!value || !found) return Status::invalid_value;
    *value = *found;
    return Status::success;
  });
}

INFLIGHT_API int cudaChooseDevice(int* ordinal, const void* properties) {
  return store(properties ? ordinal : nullptr, [] { return 0; });
}

INFLIGHT_API int cudaDeviceGetPCIBusId(char* text, int length, int ordinal) {
  return about(ordinal, [&](Device& device) {
    const std::string address = pci_address(device.profile, device.index);
    if (!text || length <= int(address.size())) return Status::invalid_value;
    std::memcpy(text, address.c_str(), address.size() + 1);
    return Status::success;
  });
}

INFLIGHT_API int cudaDeviceGetByPCIBusId(int* ordinal, const char* text) {
  return query([&] { return find_by_pci_address(text, ordinal); });
}

INFLIGHT_API int cudaSetDeviceFlags(unsigned flags) {
  return entry([&] {
    if (flags & ~known_flags) return Status::invalid_value;
    current_device().flags = flags;
    return Status::success;
  });
}

INFLIGHT_API int cudaGetDeviceFlags(unsigned* flags) {
  return store(reinterpret_cast<int*>(flags),
               [] { return int(current_device().flags | map_host_flag); });
}

INFLIGHT_API int cudaDeviceSynchronize() {
  return entry([] { return synchronize_device(); });
}

INFLIGHT_API int cudaDeviceReset() {
  return query([] { return reset_device(); });
}

INFLIGHT_API int cudaDeviceGetLimit(std::size_t* value, int limit) {
  return entry([&] { return get_limit(value, limit); });
}

INFLIGHT_API int cudaDeviceSetLimit(int limit, std::size_t value) {
  return entry([&] { return set_limit(limit, value); });
}

INFLIGHT_API int cudaDeviceSetCacheConfig(int config) {
  return entry([&] { return set_cache_config(config); });
}
INFLIGHT_API int cudaDeviceGetCacheConfig(int* config) {
  return store(config, [] { return current_device().cache_config.load(); });
}
// Shared memory has banks of four bytes since Maxwell. Other widths are accepted and ignored.
INFLIGHT_API int cudaDeviceSetSharedMemConfig(int) { return accept(); }
INFLIGHT_API int cudaDeviceGetSharedMemConfig(int* config) {
  return store(config, [] { return 1; });
}
INFLIGHT_API int cudaCtxResetPersistingL2Cache() { return accept(); }
INFLIGHT_API int cudaDeviceFlushGPUDirectRDMAWrites(int, int) { return accept(); }
INFLIGHT_API int cudaProfilerStart() { return accept(); }
INFLIGHT_API int cudaProfilerStop() { return accept(); }

INFLIGHT_API int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return query([&] {
    if (least) *least = lowest_priority;
    if (greatest) *greatest = highest_priority;
    return Status::success;
  });
}

// --- peers ------------------------------------------------------------------------------------

INFLIGHT_API int cudaDeviceCanAccessPeer(int* can, int ordinal, int peer) {
  return about(ordinal, [&](Device&) {
    if (!device_exists(peer)) return Status::invalid_device;
    if (!can) return Status::invalid_value;
    *can = ordinal != peer;
    return Status::success;
  });
}

INFLIGHT_API int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return entry([&] {
    if (!device_exists(peer)) return Status::invalid_device;
    return enable_peer(current_device().ordinal, peer, flags);
  });
}

INFLIGHT_API int cudaDeviceDisablePeerAccess(int peer) {
  return entry([&] {
    if (!device_exists(peer)) return Status::invalid_device;
    return disable_peer(current_device().ordinal, peer);
  });
}

INFLIGHT_API int cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return query([&] { return get_link_attribute(value, attribute, from, to); });
}

INFLIGHT_API int cudaDeviceGetP2PAtomicCapabilities(unsigned* forms, const int* operations,
                                                    unsigned count, int from, int to) {
  return query([&] { return get_link_atomics(forms, operations, count, from, to); });
}

INFLIGHT_API int cudaDeviceGetHostAtomicCapabilities(unsigned* forms, const int* operations,
                                                     unsigned count, int device) {
  return query([&] { return get_host_link_atomics(forms, operations, count, device); });
}

INFLIGHT_API int cudaDeviceRegisterAsyncNotification(int device, const void* function, void*,
                                                     void** handle) {
  return query([&] { return add_notices(handle, device, function); });
}

INFLIGHT_API int cudaDeviceUnregisterAsyncNotification(int device, void* handle) {
  return query([&] { return remove_notices(device, handle); });
}
