// Driver API: devices and primary contexts.
#include <cstdlib>
#include <cstring>

#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/calls/links.hpp"
#include "gpu/cuda/core/calls/notices.hpp"
#include "gpu/cuda/core/calls/pci.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

// Copies `text` into a program's buffer, truncated to its size and NUL-terminated.
Status copy_text(std::string_view text, char* to, int size) {
  if (!to || size <= 0) return Status::invalid_value;
  std::size_t length = std::min(text.size(), std::size_t(size) - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
  return Status::success;
}

Status store_attribute(int* value, int attribute, const Device& device) {
  if (!value) return Status::invalid_value;
  auto found = device.profile.attribute(attribute, device.index);
  if (!found) return Status::invalid_value;
  *value = *found;
  return Status::success;
}

}  // namespace

#define INFLIGHT_CU_DEVICE(name, params, ...)  \
  INFLIGHT_CU_INIT(name, params, {             \
    Device* found = device_at(device);         \
    if (!found) return Status::invalid_device; \
    __VA_ARGS__                                \
  })

INFLIGHT_CU_INIT(cuDeviceGetCount, (int* count),
                 { return store_value(count, Core::get().device_count()); })
INFLIGHT_CU_INIT(cuDeviceGet, (int* device, int ordinal), {
  if (!device_at(ordinal)) return Status::invalid_device;
  return store_value(device, ordinal);
})
INFLIGHT_CU_DEVICE(cuDeviceGetName, (char* name, int size, int device),
                   { return copy_text(found->profile.title, name, size); })
INFLIGHT_CU_DEVICE(cuDeviceGetAttribute, (int* value, int attribute, int device),
                   { return store_attribute(value, attribute, *found); })
INFLIGHT_CU_DEVICE(cuDeviceTotalMem_v2, (std::size_t * bytes, int device),
                   { return store_value(bytes, std::size_t(found->profile.memory)); })
INFLIGHT_CU_DEVICE(cuDeviceComputeCapability, (int* major, int* minor, int device), {
  if (!major || !minor) return Status::invalid_value;
  *major = found->profile[Attribute::capability_major];
  *minor = found->profile[Attribute::capability_minor];
  return Status::success;
})

namespace {

Status store_uuid(const Device& device, void* uuid) {
  if (!uuid) return Status::invalid_value;
  fill_uuid(device.profile, device.index, uuid);
  return Status::success;
}

}  // namespace

INFLIGHT_CU_DEVICE(cuDeviceGetUuid, (void* uuid, int device), { return store_uuid(*found, uuid); })
INFLIGHT_CU_DEVICE(cuDeviceGetUuid_v2, (void* uuid, int device),
                   { return store_uuid(*found, uuid); })
INFLIGHT_CU_DEVICE(cuDeviceGetPCIBusId, (char* text, int size, int device),
                   { return copy_text(pci_address(found->profile, found->index), text, size); })
INFLIGHT_CU_INIT(cuDeviceGetByPCIBusId, (int* device, const char* text),
                 { return find_by_pci_address(text, device); })
INFLIGHT_CU_DEVICE(cuDeviceGetExecAffinitySupport, (int* supported, int type, int device), {
  if (type != 0) return Status::invalid_value;
  return store_value(supported, 0);
})

// The fields of CUdevprop, a structure of CUDA 1.0, in its order.
INFLIGHT_CU_DEVICE(cuDeviceGetProperties, (int* properties, int device), {
  static constexpr int attributes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  if (!properties) return Status::invalid_value;
  for (int i = 0; i < 14; ++i) properties[i] = *found->profile.attribute(attributes[i]);
  return Status::success;
})

INFLIGHT_CU_INIT(cuDeviceCanAccessPeer, (int* can, int device, int peer), {
  if (!device_at(device) || !device_at(peer)) return Status::invalid_device;
  return store_value(can, device != peer ? 1 : 0);
})
INFLIGHT_CU_INIT(cuDeviceGetP2PAttribute, (int* value, int attribute, int from, int to),
                 { return get_link_attribute(value, attribute, from, to); })
INFLIGHT_CU_INIT(cuDeviceGetP2PAtomicCapabilities,
                 (unsigned* forms, const int* operations, unsigned count, int from, int to),
                 { return get_link_atomics(forms, operations, count, from, to); })
INFLIGHT_CU_INIT(cuDeviceGetHostAtomicCapabilities,
                 (unsigned* forms, const int* operations, unsigned count, int device),
                 { return get_host_link_atomics(forms, operations, count, device); })

INFLIGHT_CU_INIT(cuDeviceRegisterAsyncNotification,
                 (int device, const void* function, void*, Handle* handle),
                 { return add_notices(handle, device, function); })
INFLIGHT_CU_INIT(cuDeviceUnregisterAsyncNotification, (int device, Handle handle),
                 { return remove_notices(device, handle); })

INFLIGHT_CU(cuFlushGPUDirectRDMAWrites, (int, int), { return Status::success; })

// --- primary contexts ---

INFLIGHT_CU_DEVICE(cuDevicePrimaryCtxRetain, (Handle * context, int device), {
  if (!context) return Status::invalid_value;
  retain_primary(Core::get().primary(device));
  return store_value(context, Handle(&Core::get().primary(device)));
})

namespace {

// Calls the operation with the device's primary context.
Status with_primary(int device, Status (*operation)(Context&)) {
  return device_at(device) ? operation(Core::get().primary(device)) : Status::invalid_device;
}

Status reset(Context& context) {
  reset_primary(context);
  return Status::success;
}

constexpr unsigned context_flags_mask = 0xff;

Status set_primary_flags(int device, unsigned flags) {
  Device* found = device_at(device);
  if (!found) return Status::invalid_device;
  if (flags & ~context_flags_mask) return Status::invalid_value;
  found->flags = flags;
  return Status::success;
}

}  // namespace

INFLIGHT_CU_TWO_INIT(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (int device),
                     { return with_primary(device, release_primary); })
INFLIGHT_CU_TWO_INIT(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, (int device),
                     { return with_primary(device, reset); })
INFLIGHT_CU_TWO_INIT(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2,
                     (int device, unsigned flags), { return set_primary_flags(device, flags); })
INFLIGHT_CU_DEVICE(cuDevicePrimaryCtxGetState, (int device, unsigned* flags, int* active), {
  if (!flags || !active) return Status::invalid_value;
  *flags = found->flags;
  *active = Core::get().primary(device).active ? 1 : 0;
  return Status::success;
})

}  // namespace inflight::cuda::driver
