// Driver API: multicast objects, over the devices of this machine (CUDA driver API, "Multicast
// Object Management").
#include <sys/mman.h>

#include <map>
#include <tuple>

#include "gpu/cuda/core/memory/addresses.hpp"
#include "gpu/cuda/driver/vmm.hpp"

namespace inflight::cuda::driver {
namespace {

struct MulticastProperties {  // CUmulticastObjectProp
  unsigned devices;
  std::size_t bytes;
  unsigned long long handle_types, flags;
};

// Memory that a device has bound to an object, as the host sees it.
class Bound {
 public:
  Bound(std::shared_ptr<Physical> physical, std::size_t offset, std::size_t bytes)
      : physical_(std::move(physical)),
        bytes_(bytes),
        at_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, physical_->file(),
                 off_t(offset))) {}
  ~Bound() {
    if (at_ != MAP_FAILED) munmap(at_, bytes_);
  }
  Bound(const Bound&) = delete;
  std::byte* at() const { return at_ == MAP_FAILED ? nullptr : static_cast<std::byte*>(at_); }

 private:
  const std::shared_ptr<Physical> physical_;
  const std::size_t bytes_;
  void* const at_;
};

// A multicast object, with what is bound to it.
struct Multicast : machine::MulticastObject {
  using MulticastObject::MulticastObject;
  std::map<std::tuple<int, std::size_t>, std::unique_ptr<Bound>> bound;  // by device and offset
};

Handles<Multicast>& multicasts() {
  static auto* handles = new Handles<Multicast>;
  return *handles;
}
std::shared_ptr<Multicast> found(unsigned long long handle) {
  return multicasts().find(pointer(handle));
}

Status create(unsigned long long* handle, const MulticastProperties* properties) {
  if (!handle || !properties || properties->flags || !whole(properties->bytes) ||
      properties->devices == 0 || int(properties->devices) > Core::get().device_count())
    return Status::invalid_value;
  if (properties->handle_types) return Status::not_supported;  // sharing between processes
  *handle = address(
      multicasts().add(std::make_shared<Multicast>(properties->devices, properties->bytes)));
  return Status::success;
}

Status bind_memory(Multicast& object, std::size_t offset, const std::shared_ptr<Physical>& physical,
                   std::size_t from, std::size_t bytes) {
  if (!physical || !whole(bytes) || offset % granularity || from % granularity ||
      bytes > physical->bytes || from > physical->bytes - bytes)
    return Status::invalid_value;
  auto bound = std::make_unique<Bound>(physical, from, bytes);
  if (!bound->at()) return Status::out_of_memory;
  const int device = physical->properties.location.id;
  if (!object.bind(device, offset, bytes, bound->at())) return Status::invalid_value;
  object.bound[{device, offset}] = std::move(bound);
  return Status::success;
}

Status unbind_memory(Multicast& object, int device, std::size_t offset, std::size_t bytes) {
  // What kernels do with it must be over before it goes.
  for (int i = 0; i < Core::get().device_count(); ++i) Core::get().device(i).synchronize();
  if (!object.unbind(device, offset, bytes)) return Status::invalid_value;
  object.bound.erase({device, offset});
  return Status::success;
}

}  // namespace

std::shared_ptr<machine::MulticastObject> multicast_of(unsigned long long handle) {
  return found(handle);
}
bool release_multicast(unsigned long long handle) {
  return multicasts().remove(pointer(handle)) != nullptr;
}

INFLIGHT_CU_INIT(cuMulticastCreate,
                 (unsigned long long* handle, const MulticastProperties* properties),
                 { return create(handle, properties); })
INFLIGHT_CU_INIT(cuMulticastAddDevice, (unsigned long long handle, int device), {
  const auto object = found(handle);
  if (!object) return Status::invalid_value;
  if (!device_at(device)) return Status::invalid_device;
  return object->add(device) ? Status::success : Status::invalid_value;
})
INFLIGHT_CU_INIT(cuMulticastBindMem,
                 (unsigned long long handle, std::size_t offset, unsigned long long memory,
                  std::size_t from, std::size_t bytes, unsigned long long flags),
                 {
                   const std::lock_guard lock(mapping_mutex());
                   const auto object = found(handle);
                   if (!object || flags) return Status::invalid_value;
                   return bind_memory(*object, offset, physicals().find(pointer(memory)), from,
                                      bytes);
                 })
INFLIGHT_CU_INIT(cuMulticastBindAddr,
                 (unsigned long long handle, std::size_t offset, DevicePointer memory,
                  std::size_t bytes, unsigned long long flags),
                 {
                   const std::lock_guard lock(mapping_mutex());
                   const auto object = found(handle);
                   if (!object || flags) return Status::invalid_value;
                   const auto [physical, from] = mapped_at(memory);
                   return bind_memory(*object, offset, physical, from, bytes);
                 })
INFLIGHT_CU_INIT(cuMulticastUnbind,
                 (unsigned long long handle, int device, std::size_t offset, std::size_t bytes), {
                   const std::lock_guard lock(mapping_mutex());
                   const auto object = found(handle);
                   if (!object) return Status::invalid_value;
                   return unbind_memory(*object, device, offset, bytes);
                 })
INFLIGHT_CU_INIT(cuMulticastGetGranularity,
                 (std::size_t * bytes, const MulticastProperties* properties, int option), {
                   if (!properties || option < 0 || option > 1) return Status::invalid_value;
                   return store_value(bytes, granularity);
                 })

}  // namespace inflight::cuda::driver
