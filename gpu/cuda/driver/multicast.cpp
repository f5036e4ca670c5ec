// Driver API: multicast objects, over the devices of this machine (CUDA driver API, "Multicast
// Object Management").
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
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
  int handles = 1;                         // that programs have not released yet
  std::shared_ptr<const Descriptor> file;  // names it where it may be exported
  std::map<std::tuple<int, std::size_t>, std::unique_ptr<Bound>> bound;  // by device and offset
};

// Begins the name of an exported object's file, which goes on with its process and its handle.
constexpr const char* file_name = "inflight multicast";

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
  if (properties->handle_types & ~std::uint64_t{handle_file}) return Status::not_supported;
  auto object = std::make_shared<Multicast>(properties->devices, properties->bytes);
  Multicast* const made = multicasts().add(object);
  if (properties->handle_types) {
    const std::string name = fmt::format("{} {}.{}", file_name, getpid(), address(made));
    object->file = std::make_shared<Descriptor>(memfd_create(name.c_str(), MFD_CLOEXEC));
  }
  *handle = address(made);
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
  const auto object = found(handle);
  if (object && --object->handles == 0) multicasts().remove(pointer(handle));
  return object != nullptr;
}
int multicast_file(unsigned long long handle) {
  const auto object = found(handle);
  return object && object->file ? object->file->number() : -1;
}

Result<unsigned long long> import_multicast(std::string_view name) {
  const std::lock_guard lock(mapping_mutex());
  unsigned long long handle = 0;
  int process = 0;
  const auto at = name.find(file_name);
  if (at == name.npos ||
      std::sscanf(name.data() + at + std::strlen(file_name), " %d.%llu", &process, &handle) != 2)
    return fail(Status::invalid_value);
  if (process != getpid())
    return fail(Status::not_supported,
                "multicast objects join devices of one process, and this one is another "
                "process's. NCCL does without them with NCCL_NVLS_ENABLE=0.");
  const auto object = found(handle);
  if (!object) return fail(Status::invalid_value);
  ++object->handles;
  return handle;
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
