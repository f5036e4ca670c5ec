// Driver API: multicast objects, over the devices of this machine (CUDA driver API, "Multicast
// Object Management").
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/sharing/before_launch.hpp"
#include "gpu/cuda/driver/shared_multicast.hpp"
#include "gpu/cuda/driver/vmm.hpp"

namespace inflight::cuda::driver {
namespace {

struct MulticastProperties {  // CUmulticastObjectProp
  unsigned devices;
  std::size_t bytes;
  unsigned long long handle_types, flags;
};

// A multicast object as this process's kernels see it, and the memory that this process has bound
// to it.
class Multicast : public machine::MulticastObject {
 public:
  Multicast(std::shared_ptr<SharedMulticast> of_all, bool exported)
      : MulticastObject(of_all->most(), of_all->bytes()),
        shared(std::move(of_all)),
        exported(exported) {}
  // Applies the changes that any process has made to the bindings.
  void follow();

  const std::shared_ptr<SharedMulticast> shared;
  const bool exported;
  int handles = 1;  // not yet released by programs
  struct Bound {
    std::shared_ptr<Physical> physical;
    std::size_t from, bytes;  // in `physical`
  };
  std::map<std::pair<int, std::size_t>, Bound> mine;  // by device and offset; with mapping_mutex()

 private:
  std::mutex mutex_;
  std::uint64_t seen_ = 0;
  std::map<std::pair<int, std::size_t>, SharedMulticast::Range> bound_;  // by device and offset
};

void Multicast::follow() {
  const std::lock_guard lock(mutex_);
  if (shared->version() == seen_) return;
  const auto view = shared->view();
  if (!view) {  // kernels go on with the memory that was bound before
    if (!view.error().message.empty()) report_once("multicast state", view.error().message);
    return;
  }
  seen_ = view->version;
  for (const int device : view->devices) add(device);  // ignores devices that are already added
  std::map<std::pair<int, std::size_t>, SharedMulticast::Range> now;
  for (const SharedMulticast::Range& each : view->ranges) now[{each.device, each.offset}] = each;
  for (const auto& [key, old] : bound_) {
    const auto kept = now.find(key);
    if (kept == now.end() || kept->second.at != old.at || kept->second.bytes != old.bytes)
      unbind(old.device, old.offset, old.bytes);
  }
  for (const auto& [key, each] : now) bind(each.device, each.offset, each.bytes, each.at);
  bound_ = std::move(now);
}

Handles<Multicast>& multicasts() {
  static auto* handles = new Handles<Multicast>;
  return *handles;
}
std::shared_ptr<Multicast> found(unsigned long long handle) {
  return multicasts().find(pointer(handle));
}

// All objects of the process. A mapped object exists even without a handle.
struct Followed {
  std::mutex mutex;
  std::vector<std::weak_ptr<Multicast>> objects;
};
Followed& followed() {
  static auto& instance = *new Followed;
  return instance;
}

// Updates all objects before a launch, because other processes bind memory too.
void follow_all() {
  const std::lock_guard lock(followed().mutex);
  std::erase_if(followed().objects, [](const auto& each) {
    const auto object = each.lock();
    if (object) object->follow();
    return !object;
  });
}

unsigned long long keep(std::shared_ptr<SharedMulticast> shared, bool exported) {
  auto object = std::make_shared<Multicast>(std::move(shared), exported);
  const std::lock_guard lock(followed().mutex);
  followed().objects.push_back(object);
  set_launch_hook(follow_all);
  return address(multicasts().add(std::move(object)));
}

Status create(unsigned long long* handle, const MulticastProperties* properties) {
  if (!handle || !properties || properties->flags || !whole(properties->bytes) ||
      properties->devices == 0 || properties->devices > SharedMulticast::most_devices)
    return Status::invalid_value;
  if (properties->handle_types & ~std::uint64_t{handle_file}) return Status::not_supported;
  auto shared = SharedMulticast::create(properties->devices, properties->bytes);
  if (!shared) return report(shared);
  *handle = keep(std::move(*shared), properties->handle_types != 0);
  return Status::success;
}

// The device's index on the machine. Its number may differ in another process.
int index_of(int device) { return Core::get().device(device).index; }

Status bind_memory(Multicast& object, std::size_t offset, const std::shared_ptr<Physical>& physical,
                   std::size_t from, std::size_t bytes) {
  if (!physical || !physical->on_device() || !whole(bytes) || offset % granularity ||
      from % granularity || bytes > physical->bytes || from > physical->bytes - bytes)
    return Status::invalid_value;
  const Device& device = Core::get().device(physical->properties.location.id);
  const int file = physical->file();
  if (file < 0) return lost_descriptor();
  auto memory = sharing_handle(SharingHandle::Kind::physical, file, device.index);
  if (!memory) return report(memory);
  memory->offset = from, memory->bytes = bytes;
  const Status status = object.shared->bind(device.index, offset, *memory);
  if (status != Status::success) return status;
  object.mine[{device.index, offset}] = {physical, from, bytes};
  object.see(device.index, offset, mapped_place(*physical, from, bytes));
  return status;
}

Status unbind_memory(Multicast& object, int device, std::size_t offset, std::size_t bytes) {
  // Waits for all kernels that may use the memory.
  for (int i = 0; i < Core::get().device_count(); ++i) Core::get().device(i).synchronize();
  const Status status = object.shared->unbind(index_of(device), offset, bytes);
  if (status != Status::success) return status;
  object.mine.erase({index_of(device), offset});
  object.see(index_of(device), offset, 0);
  return Status::success;
}

}  // namespace

std::shared_ptr<machine::MulticastObject> multicast_of(unsigned long long handle) {
  return found(handle);
}
void see_mappings() {
  const std::lock_guard lock(followed().mutex);
  for (const auto& each : followed().objects)
    if (const auto object = each.lock())
      for (const auto& [key, bound] : object->mine)
        object->see(key.first, key.second, mapped_place(*bound.physical, bound.from, bound.bytes));
}
bool release_multicast(unsigned long long handle) {
  const auto object = found(handle);
  if (object && --object->handles == 0) multicasts().remove(pointer(handle));
  return object != nullptr;
}
std::optional<int> multicast_file(unsigned long long handle) {
  const auto object = found(handle);
  return object && object->exported ? std::optional(object->shared->file()) : std::nullopt;
}

Result<unsigned long long> import_multicast(int given) {
  const std::lock_guard lock(mapping_mutex());
  for (const auto& each : multicasts().all())
    if (each->shared->same_file(given)) {
      ++each->handles;
      return address(each.get());
    }
  auto shared = SharedMulticast::open(given);
  if (!shared) return tl::unexpected(shared.error());
  return keep(std::move(*shared), true);
}

INFLIGHT_CU_INIT(cuMulticastCreate,
                 (unsigned long long* handle, const MulticastProperties* properties),
                 { return create(handle, properties); })
INFLIGHT_CU_INIT(cuMulticastAddDevice, (unsigned long long handle, int device), {
  const auto object = found(handle);
  if (!object) return Status::invalid_value;
  if (!device_at(device)) return Status::invalid_device;
  return object->shared->add(index_of(device));
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
                   if (!device_at(device)) return Status::invalid_device;
                   return unbind_memory(*object, device, offset, bytes);
                 })
INFLIGHT_CU_INIT(cuMulticastGetGranularity,
                 (std::size_t * bytes, const MulticastProperties* properties, int option), {
                   if (!properties || option < 0 || option > 1) return Status::invalid_value;
                   return store_value(bytes, granularity);
                 })

}  // namespace inflight::cuda::driver
