// Driver API: virtual memory management. A reservation is a range of the host's address space, a
// handle an anonymous file; what is mapped and accessible becomes an allocation.
#include "gpu/cuda/driver/vmm.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "gpu/cuda/core/memory/addresses.hpp"

namespace inflight::cuda::driver {
namespace {

constexpr int pinned = 1;

struct Mapping {
  std::size_t bytes = 0;
  std::shared_ptr<Physical> physical;  // or
  std::shared_ptr<machine::MulticastObject> multicast;
  bool accessible = false;
};

// Every reservation and mapping of the process, by address. Guarded by mapping_mutex().
struct Space {
  std::map<DevicePointer, std::size_t> reservations;
  std::map<DevicePointer, Mapping> mappings;
  std::vector<DevicePointer> adopted;
};
Space& space() {
  static auto* instance = new Space;
  return *instance;
}
// Adjacent mappings that are accessible become one allocation, since programs access across them.
void adopt_runs(Space& s) {
  machine::Memory& memory = Core::get().memory;
  for (DevicePointer base : s.adopted) memory.release(base);
  s.adopted.clear();
  for (auto it = s.mappings.begin(); it != s.mappings.end();) {
    auto [base, mapping] = *it;
    DevicePointer end = base;
    for (;
         it != s.mappings.end() && it->first == end && it->second.accessible && it->second.physical;
         ++it) {
      end += it->second.bytes;
    }
    if (end == base) {
      ++it;
      continue;
    }
    int device = mapping.physical->properties.location.id;
    if (memory.adopt(device, pointer(base), end - base, machine::AllocationKind::device)) {
      s.adopted.push_back(base);
    }
  }
}

Status reserve(DevicePointer* to, std::size_t bytes, std::size_t alignment) {
  std::size_t align = std::max(alignment, granularity);
  if (!to || !whole(bytes) || (align & (align - 1))) return Status::invalid_value;
  void* raw =
      mmap(nullptr, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return Status::out_of_memory;
  DevicePointer base = round_up(address(raw), align);
  if (base > address(raw)) munmap(raw, base - address(raw));
  DevicePointer end = address(raw) + bytes + align;
  if (end > base + bytes) munmap(pointer(base + bytes), end - base - bytes);
  std::lock_guard lock(mapping_mutex());
  space().reservations[base] = bytes;
  *to = base;
  return Status::success;
}

bool holds_mapping(const Space& s, DevicePointer base, std::size_t bytes) {
  auto next = s.mappings.lower_bound(base + bytes);
  if (next == s.mappings.begin()) return false;
  --next;
  return next->first + next->second.bytes > base;
}

Status unreserve(DevicePointer base, std::size_t bytes) {
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  auto it = s.reservations.find(base);
  if (it == s.reservations.end() || it->second != bytes) return Status::invalid_value;
  if (holds_mapping(s, base, bytes)) return Status::invalid_value;
  munmap(pointer(base), bytes);
  s.reservations.erase(it);
  return Status::success;
}

Status create(unsigned long long* handle, std::size_t bytes,
              const AllocationProperties* properties) {
  if (!handle || !properties || !whole(bytes) || properties->type != pinned)
    return Status::invalid_value;
  if (properties->location.type != abi::location_device) return Status::not_supported;
  if (!device_at(properties->location.id)) return Status::invalid_device;
  std::lock_guard lock(mapping_mutex());
  auto physical = std::make_shared<Physical>(*properties, bytes);
  if (!physical->made()) return Status::out_of_memory;
  *handle = address(physicals().add(std::move(physical)));
  return Status::success;
}

Status release(unsigned long long handle) {
  std::lock_guard lock(mapping_mutex());
  if (release_multicast(handle)) return Status::success;
  auto physical = physicals().find(pointer(handle));
  if (!physical) return Status::invalid_value;
  if (--physical->handles > 0) return Status::success;
  physicals().remove(pointer(handle));
  return Status::success;
}

bool reserved(const Space& s, DevicePointer base, std::size_t bytes) {
  auto next = s.reservations.upper_bound(base);
  if (next == s.reservations.begin()) return false;
  --next;
  return base + bytes <= next->first + next->second;
}

Status map(DevicePointer base, std::size_t bytes, std::size_t offset, unsigned long long handle) {
  auto physical = physicals().find(pointer(handle));
  auto multicast = physical ? nullptr : multicast_of(handle);
  if (!physical && !multicast) return Status::invalid_value;
  const std::size_t size = physical ? physical->bytes : multicast->bytes();
  if (!whole(bytes) || base % granularity || offset != 0 || bytes > size)
    return Status::invalid_value;
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  if (!reserved(s, base, bytes) || holds_mapping(s, base, bytes)) return Status::invalid_value;
  // Only multimem instructions may access a multicast object: the host has nothing there.
  if (physical && mmap(pointer(base), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       physical->file(), 0) == MAP_FAILED)
    return Status::out_of_memory;
  s.mappings[base] = {bytes, std::move(physical), std::move(multicast), false};
  return Status::success;
}

// [base, base+bytes) must be exactly a run of whole mappings.
template <class Each>
Status for_mappings(Space& s, DevicePointer base, std::size_t bytes, Each&& each) {
  DevicePointer at = base;
  for (auto it = s.mappings.find(at); it != s.mappings.end() && it->first == at;) {
    if (at >= base + bytes) break;
    at += it->second.bytes;
    ++it;
  }
  if (at != base + bytes || bytes == 0) return Status::invalid_value;
  auto first = s.mappings.find(base), last = s.mappings.lower_bound(base + bytes);
  for (auto it = first; it != last; ++it) each(it->first, it->second);
  return Status::success;
}

Status unmap(DevicePointer base, std::size_t bytes) {
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  Status status = for_mappings(s, base, bytes, [](DevicePointer at, Mapping& m) {
    m.accessible = false;
    if (m.multicast) Core::get().memory.multicasts().unmap(at);
  });
  if (status != Status::success) return status;
  for (int i = 0; i < Core::get().device_count(); ++i) Core::get().device(i).synchronize();
  adopt_runs(s);
  s.mappings.erase(s.mappings.find(base), s.mappings.lower_bound(base + bytes));
  mmap(pointer(base), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  return Status::success;
}

constexpr int access_none = 0, access_read_write = 3;

Status set_access(DevicePointer base, std::size_t bytes, const abi::AccessDescription* list,
                  std::size_t count) {
  if (!list || count == 0) return Status::invalid_value;
  bool open = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].location.type != abi::location_device) return Status::not_supported;
    if (!device_at(list[i].location.id)) return Status::invalid_device;
    if (list[i].flags != access_none && list[i].flags != access_read_write) {
      return Status::not_supported;
    }
    open |= list[i].flags == access_read_write;
  }
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  machine::MulticastRanges& multicasts = Core::get().memory.multicasts();
  Status status = for_mappings(s, base, bytes, [&](DevicePointer at, Mapping& m) {
    m.accessible = open;
    if (m.multicast && open) multicasts.map(at, m.bytes, m.multicast);
    if (m.multicast && !open) multicasts.unmap(at);
  });
  if (status == Status::success) adopt_runs(s);
  return status;
}

Status get_access(unsigned long long* flags, const abi::Location* location, DevicePointer inside) {
  Space& s = space();
  if (!flags || !location) return Status::invalid_value;
  std::lock_guard lock(mapping_mutex());
  if (!holds_mapping(s, inside, 1)) return Status::invalid_value;
  auto it = std::prev(s.mappings.upper_bound(inside));
  *flags = it->second.accessible ? access_read_write : access_none;
  return Status::success;
}

Status retain(unsigned long long* handle, void* inside) {
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  if (!handle || !holds_mapping(s, address(inside), 1)) return Status::invalid_value;
  auto physical = std::prev(s.mappings.upper_bound(address(inside)))->second.physical;
  if (!physical) return Status::invalid_value;
  ++physical->handles;
  *handle = address(physicals().add(physical));
  return Status::success;
}

}  // namespace

Physical::Physical(const AllocationProperties& properties, std::size_t bytes)
    : properties(properties), bytes(bytes), file_(memfd_create("device memory", MFD_CLOEXEC)) {
  made_ = file_ >= 0 && Core::get().take_physical(properties.location.id, bytes);
  if (made_ && ftruncate(file_, off_t(bytes)) != 0) give_back();
}

Physical::~Physical() {
  if (made_) give_back();
  if (file_ >= 0) close(file_);
}

void Physical::give_back() {
  Core::get().give_back_physical(properties.location.id, bytes);
  made_ = false;
}

Handles<Physical>& physicals() {
  static auto* handles = new Handles<Physical>;
  return *handles;
}

std::mutex& mapping_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

Mapped mapped_at(DevicePointer inside) {
  const Space& s = space();
  if (!holds_mapping(s, inside, 1)) return {};
  const auto& [base, mapping] = *std::prev(s.mappings.upper_bound(inside));
  return {mapping.physical, inside - base};
}

INFLIGHT_CU_INIT(cuMemGetAllocationGranularity,
                 (std::size_t * bytes, const AllocationProperties* properties, int option), {
                   if (!properties || option < 0 || option > 1) return Status::invalid_value;
                   return store_value(bytes, granularity);
                 })
INFLIGHT_CU_INIT(cuMemAddressReserve,
                 (DevicePointer * to, std::size_t bytes, std::size_t alignment, DevicePointer,
                  unsigned long long flags),
                 { return flags ? Status::invalid_value : reserve(to, bytes, alignment); })
INFLIGHT_CU_INIT(cuMemAddressFree, (DevicePointer base, std::size_t bytes),
                 { return unreserve(base, bytes); })
INFLIGHT_CU_INIT(cuMemCreate,
                 (unsigned long long* handle, std::size_t bytes,
                  const AllocationProperties* properties, unsigned long long flags),
                 { return flags ? Status::invalid_value : create(handle, bytes, properties); })
INFLIGHT_CU_INIT(cuMemRelease, (unsigned long long handle), { return release(handle); })
INFLIGHT_CU_INIT(cuMemMap,
                 (DevicePointer base, std::size_t bytes, std::size_t offset,
                  unsigned long long handle, unsigned long long flags),
                 { return flags ? Status::invalid_value : map(base, bytes, offset, handle); })
INFLIGHT_CU_INIT(cuMemUnmap, (DevicePointer base, std::size_t bytes),
                 { return unmap(base, bytes); })
INFLIGHT_CU_INIT(cuMemSetAccess,
                 (DevicePointer base, std::size_t bytes, const abi::AccessDescription* list,
                  std::size_t count),
                 { return set_access(base, bytes, list, count); })
INFLIGHT_CU_INIT(cuMemGetAccess,
                 (unsigned long long* flags, const abi::Location* location, DevicePointer inside),
                 { return get_access(flags, location, inside); })
INFLIGHT_CU_INIT(cuMemRetainAllocationHandle, (unsigned long long* handle, void* inside),
                 { return retain(handle, inside); })
INFLIGHT_CU_INIT(cuMemGetAllocationPropertiesFromHandle,
                 (AllocationProperties * properties, unsigned long long handle), {
                   auto physical = physicals().find(pointer(handle));
                   if (!physical || !properties) return Status::invalid_value;
                   *properties = physical->properties;
                   return Status::success;
                 })

}  // namespace inflight::cuda::driver
