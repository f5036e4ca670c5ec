// Driver API: allocation, pinned and managed memory.
#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/managed.hpp"
#include "gpu/cuda/core/calls/shared_memory.hpp"
#include "gpu/cuda/driver/entry.hpp"
#include "gpu/cuda/driver/owners.hpp"
#include "gpu/cuda/driver/vmm.hpp"

namespace inflight::cuda::driver {
namespace {

// Stores the address that `call` writes to its argument. The driver API refuses allocations of 0
// bytes.
template <class Call>
Status allocate(DevicePointer* to, std::size_t bytes, Call&& call) {
  void* made = nullptr;
  if (!to || bytes == 0) return Status::invalid_value;
  Status status = call(&made);
  if (status == Status::success) note_owner(*to = address(made));
  return status;
}

Status allocate_pinned_here(void** to, std::size_t bytes, unsigned flags) {
  if (bytes == 0) return Status::invalid_value;
  const Status status = allocate_pinned(to, bytes, flags);
  if (status == Status::success) note_owner(address(*to));
  return status;
}

Status range_of(DevicePointer* base, std::size_t* bytes, DevicePointer inside) {
  auto found = Core::get().memory.find(inside);
  if (!found) return Status::not_found;
  // Adjacent mappings may be one allocation here, but the program sees them one by one.
  const MappedRange mapping = mapping_of(inside);
  if (base) *base = mapping.bytes ? mapping.base : found->base;
  if (bytes) *bytes = mapping.bytes ? mapping.bytes : found->size;
  return Status::success;
}

// Before CUDA 12.2 a location was a device's number, or -1 for the host.
abi::Location location_of(int device) {
  if (device < 0) return {abi::location_host, 0};
  return {abi::location_device, device};
}

}  // namespace

INFLIGHT_CU(cuMemAlloc_v2, (DevicePointer * to, std::size_t bytes), {
  return allocate(to, bytes, [&](void** made) { return allocate_device(made, bytes); });
})
INFLIGHT_CU(cuMemAllocPitch_v2,
            (DevicePointer * to, std::size_t* pitch, std::size_t width, std::size_t height,
             unsigned element),
            {
              if (element != 4 && element != 8 && element != 16) return Status::invalid_value;
              return allocate(to, width && height, [&](void** made) {
                return allocate_rows(made, pitch, width, height);
              });
            })
INFLIGHT_CU(cuMemAllocManaged, (DevicePointer * to, std::size_t bytes, unsigned flags), {
  return allocate(to, bytes, [&](void** made) { return allocate_managed(made, bytes, flags); });
})
INFLIGHT_CU_AT(of_memory(memory), cuMemFree_v2, (DevicePointer memory),
               { return free_memory(pointer(memory)); })
INFLIGHT_CU(cuMemAllocHost_v2, (void** to, std::size_t bytes),
            { return allocate_pinned_here(to, bytes, 0); })
INFLIGHT_CU(cuMemHostAlloc, (void** to, std::size_t bytes, unsigned flags),
            { return allocate_pinned_here(to, bytes, flags); })
INFLIGHT_CU_AT(of_memory(memory), cuMemFreeHost, (void* memory),
               { return memory ? free_pinned(memory) : Status::invalid_value; })
INFLIGHT_CU_TWO(cuMemHostRegister, cuMemHostRegister_v2,
                (void* memory, std::size_t bytes, unsigned flags),
                { return register_pinned(memory, bytes, flags); })
INFLIGHT_CU_AT(of_memory(memory), cuMemHostUnregister, (void* memory),
               { return unregister_pinned(memory); })
INFLIGHT_CU_AT(of_memory(memory), cuMemHostGetDevicePointer_v2,
               (DevicePointer * to, void* memory, unsigned flags), {
                 return allocate(
                     to, 1, [&](void** made) { return get_device_pointer(made, memory, flags); });
               })
INFLIGHT_CU_AT(of_memory(memory), cuMemHostGetFlags, (unsigned* flags, void* memory),
               { return get_pinned_flags(flags, memory); })
INFLIGHT_CU(cuMemGetInfo_v2, (std::size_t * free, std::size_t* total),
            { return get_memory_info(free, total); })
INFLIGHT_CU(cuMemGetAddressRange_v2,
            (DevicePointer * base, std::size_t* bytes, DevicePointer inside),
            { return range_of(base, bytes, inside); })

// --- memory of other processes ---

INFLIGHT_CU_AT(of_memory(memory), cuIpcGetMemHandle, (SharingHandle * to, DevicePointer memory),
               { return export_memory(to, pointer(memory)); })
INFLIGHT_CU_TWO(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2,
                (DevicePointer * to, SharingHandle handle, unsigned flags), {
                  return allocate(to, 1,
                                  [&](void** made) { return import_memory(made, handle, flags); });
                })
INFLIGHT_CU_AT(of_memory(memory), cuIpcCloseMemHandle, (DevicePointer memory),
               { return close_imported(pointer(memory)); })

// --- managed memory ---

INFLIGHT_CU_AT(of_memory(memory), cuMemAdvise,
               (DevicePointer memory, std::size_t bytes, int advice, int device),
               { return advise(pointer(memory), bytes, advice, location_of(device)); })
INFLIGHT_CU_AT(of_memory(memory), cuMemAdvise_v2,
               (DevicePointer memory, std::size_t bytes, int advice, abi::Location location),
               { return advise(pointer(memory), bytes, advice, location); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz,
                   (DevicePointer memory, std::size_t bytes, int device, Handle stream), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return prefetch(s, pointer(memory), bytes, location_of(device), 0);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz,
                   (DevicePointer memory, std::size_t bytes, abi::Location location, unsigned flags,
                    Handle stream),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return prefetch(s, pointer(memory), bytes, location, flags);
                     });
                   })
INFLIGHT_CU_AT(of_memory(memory), cuMemRangeGetAttribute,
               (void* data, std::size_t size, int attribute, DevicePointer memory,
                std::size_t bytes),
               { return range_attribute(data, size, attribute, pointer(memory), bytes); })
INFLIGHT_CU_AT(of_memory(memory), cuMemRangeGetAttributes,
               (void** data, std::size_t* sizes, int* attributes, std::size_t count,
                DevicePointer memory, std::size_t bytes),
               { return range_attributes(data, sizes, attributes, count, pointer(memory), bytes); })

}  // namespace inflight::cuda::driver
