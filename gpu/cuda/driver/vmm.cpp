// Driver API: virtual memory management. A reservation is a range of the host's address space, and
// a handle is an anonymous file. Memory that is mapped and accessible becomes an allocation.
#include "gpu/cuda/driver/vmm.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "gpu/bytes/range.hpp"
#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/memory/mappings.hpp"
#include "gpu/cuda/core/memory/reserved.hpp"
#include "gpu/cuda/driver/shareable.hpp"

namespace inflight::cuda::driver {
namespace {

constexpr int pinned = 1;

struct Mapping {
  std::size_t bytes = 0;
  std::shared_ptr<Physical> physical;  // or
  std::shared_ptr<machine::MulticastObject> multicast;
  std::uint64_t reach = 0;  // devices that may access it, one bit each

  // True if the two mappings form one allocation when they are adjacent.
  bool alike(const Mapping& other) const {
    return other.physical && reach == other.reach &&
           physical->on_device() == other.physical->on_device();
  }
};

// Adjacent mappings that form one allocation.
struct Run {
  std::size_t bytes = 0;
  std::uint64_t reach = 0;
  int device = 0;
  machine::AllocationKind kind = machine::AllocationKind::device;
  bool operator==(const Run&) const = default;
};

// A reservation or a mapping by its base. It does not wrap, because the host has reserved it.
ByteRange range_of(const std::pair<const DevicePointer, std::size_t>& reservation) {
  return ByteRange::of(reservation.first, reservation.second).value_or(ByteRange());
}
ByteRange range_of(const std::pair<const DevicePointer, Mapping>& mapping) {
  return ByteRange::of(mapping.first, mapping.second.bytes).value_or(ByteRange());
}

// Every reservation and mapping of the process, by address. Guarded by mapping_mutex().
struct Space {
  std::map<DevicePointer, std::size_t> reservations;
  std::map<DevicePointer, Mapping> mappings;
  std::map<DevicePointer, Run> adopted;  // allocations, by their base
};
Space& space() {
  static auto* instance = new Space;
  return *instance;
}
// Adjacent mappings that the same devices may access form one allocation, because programs access
// memory across them.
std::map<DevicePointer, Run> runs_of(const std::map<DevicePointer, Mapping>& mappings) {
  std::map<DevicePointer, Run> runs;
  for (auto it = mappings.begin(); it != mappings.end();) {
    const auto& [base, first] = *it;
    DevicePointer end = range_of(*it).end();
    ++it;
    if (!first.physical || first.reach == 0) continue;
    for (; it != mappings.end() && it->first == end && first.alike(it->second); ++it)
      end = range_of(*it).end();
    const bool on_device = first.physical->on_device();
    runs[base] = {
        end - base, first.reach,
        on_device ? first.physical->properties.location.id : std::countr_zero(first.reach),
        on_device ? machine::AllocationKind::device : machine::AllocationKind::host};
  }
  return runs;
}

// Replaces changed allocations in one step. Kernels may be using the others, and those that grew.
void adopt_runs(Space& s) {
  auto runs = runs_of(s.mappings);
  const auto same = [](const auto& among, const auto& run) {
    const auto found = among.find(run.first);
    return found != among.end() && found->second == run.second;
  };
  std::vector<std::uint64_t> ended;
  for (const auto& run : s.adopted)
    if (!same(runs, run)) ended.push_back(run.first);
  std::vector<machine::Memory::Adoption> begun;
  for (const auto& run : runs)
    if (!same(s.adopted, run))
      begun.push_back({run.second.device,
                       pointer(run.first),
                       run.second.bytes,
                       run.second.kind,
                       {.reach = run.second.reach}});
  Core::get().memory.replace(ended, begun);
  s.adopted = std::move(runs);
  see_mappings();
}

Status reserve(DevicePointer* to, std::size_t bytes, std::size_t alignment) {
  constexpr std::size_t most = std::size_t{1} << 47;  // of addresses
  std::size_t align = std::max(alignment, granularity);
  if (!to || !whole(bytes) || (align & (align - 1)) || align > most) return Status::invalid_value;
  const Checked wanted = Checked(bytes) + align;
  void* raw = wanted.exact() ? mmap(nullptr, wanted.value_or(0), PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                             : MAP_FAILED;
  if (raw == MAP_FAILED) return Status::out_of_memory;
  const ByteRange mapped = ByteRange::of(address(raw), wanted).value_or(ByteRange());
  const ByteRange kept = ByteRange::of(round_up(address(raw), align), bytes).value_or(ByteRange());
  if (kept.base() > mapped.base()) munmap(raw, kept.base() - mapped.base());
  if (mapped.end() > kept.end()) munmap(pointer(kept.end()), mapped.end() - kept.end());
  std::lock_guard lock(mapping_mutex());
  space().reservations[kept.base()] = bytes;
  add_reserved(kept.base(), bytes);
  *to = kept.base();
  return Status::success;
}

bool holds_mapping(const Space& s, const ByteRange& range) {
  const auto next = s.mappings.lower_bound(range.end());
  return next != s.mappings.begin() && range_of(*std::prev(next)).overlaps(range);
}
// The mapping that holds an address; the end if there is none.
auto mapping_at(Space& s, DevicePointer inside) {
  const auto next = s.mappings.upper_bound(inside);
  const bool found = next != s.mappings.begin() && range_of(*std::prev(next)).contains(inside);
  return found ? std::prev(next) : s.mappings.end();
}

Status unreserve(DevicePointer base, std::size_t bytes) {
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  auto it = s.reservations.find(base);
  if (it == s.reservations.end() || it->second != bytes) return Status::invalid_value;
  if (holds_mapping(s, range_of(*it))) return Status::invalid_value;
  remove_reserved(base);
  munmap(pointer(base), bytes);
  s.reservations.erase(it);
  return Status::success;
}

Status create(unsigned long long* handle, std::size_t bytes,
              const AllocationProperties* properties) {
  if (!handle || !properties || !whole(bytes) || properties->type != pinned)
    return Status::invalid_value;
  if (properties->handle_types & ~handle_file) return Status::not_supported;
  if (properties->location.type == abi::location_none) return Status::invalid_value;
  if (properties->location.type == abi::location_device && !device_at(properties->location.id))
    return Status::invalid_device;
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

bool reserved(const Space& s, const ByteRange& range) {
  const auto next = s.reservations.upper_bound(range.base());
  return next != s.reservations.begin() && range_of(*std::prev(next)).contains(range);
}

Status map(DevicePointer base, std::size_t bytes, std::size_t offset, unsigned long long handle) {
  auto physical = physicals().find(pointer(handle));
  auto multicast = physical ? nullptr : multicast_of(handle);
  if (!physical && !multicast) return Status::invalid_value;
  const std::size_t size = physical ? physical->bytes : multicast->bytes();
  // As an H200 answers, whatever else is wrong.
  if (physical && (offset != 0 || bytes != size)) return Status::not_supported;
  const auto range = ByteRange::of(base, bytes);
  if (!range || !whole(bytes) || base % granularity || offset != 0 || bytes > size)
    return Status::invalid_value;
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  if (!reserved(s, *range) || holds_mapping(s, *range)) return Status::invalid_value;
  const int file = physical ? physical->file() : -1;
  if (physical && file < 0) return lost_descriptor();
  // The host cannot access a multicast object's addresses.
  if (physical && mmap(pointer(base), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                       0) == MAP_FAILED)
    return Status::out_of_memory;
  if (physical && !physical->on_device()) add_mapped(base, bytes);
  s.mappings[base] = {bytes, std::move(physical), std::move(multicast), 0};
  return Status::success;
}

// As on an H200, the range must begin where a mapping begins and end where one ends. It may have
// gaps.
template <class Each>
Status for_mappings(Space& s, const std::optional<ByteRange>& range, Each&& each) {
  if (!range || range->empty()) return Status::invalid_value;
  const auto first = s.mappings.find(range->base()), last = s.mappings.lower_bound(range->end());
  if (first == s.mappings.end() || range_of(*std::prev(last)).end() != range->end())
    return Status::invalid_value;
  for (auto it = first; it != last; ++it) each(it->first, it->second);
  return Status::success;
}

// As on an H200, the range may have gaps, but each mapping must lie in it as a whole.
Status unmap(DevicePointer base, std::size_t bytes) {
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  const auto range = ByteRange::of(base, bytes);
  if (!range || !whole(bytes) || base % granularity || !reserved(s, *range))
    return Status::invalid_value;
  const auto first = s.mappings.lower_bound(base), end = s.mappings.lower_bound(range->end());
  const auto around = mapping_at(s, base);
  const bool cut_before = around != s.mappings.end() && around->first != base;
  const bool cut_behind = first != end && range_of(*std::prev(end)).end() > range->end();
  if (cut_before || cut_behind) return Status::invalid_value;
  for (auto it = first; it != end; ++it) {
    it->second.reach = 0;
    if (it->second.multicast) Core::get().memory.multicasts().unmap(it->first);
    remove_mapped(it->first);
  }
  for (int i = 0; i < Core::get().device_count(); ++i) Core::get().device(i).synchronize();
  adopt_runs(s);
  wait_for_pending_work();  // of which some may have begun before nobody could reach the range
  s.mappings.erase(first, end);
  mmap(pointer(base), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  return Status::success;
}

constexpr int access_none = 0, access_read_write = 3;

std::uint64_t bit(int device) { return std::uint64_t{1} << device; }

bool on_host(Space& s, const std::optional<ByteRange>& range) {
  bool all = true;
  for_mappings(s, range,
               [&](DevicePointer, Mapping& m) { all &= m.physical && !m.physical->on_device(); });
  return all;
}

Status set_access(DevicePointer base, std::size_t bytes, const abi::AccessDescription* list,
                  std::size_t count) {
  if (!list || count == 0) return Status::invalid_value;
  std::uint64_t opened = 0, closed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].flags != access_none && list[i].flags != access_read_write)
      return Status::not_supported;
    if (list[i].location.type != abi::location_device) continue;  // seen below
    if (!device_at(list[i].location.id)) return Status::invalid_device;
    (list[i].flags == access_none ? closed : opened) |= bit(list[i].location.id);
  }
  // The host has access to host memory only, not to a device's.
  const bool names_host = std::any_of(list, list + count, [](const abi::AccessDescription& each) {
    return each.location.type != abi::location_device;
  });
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  const auto range = ByteRange::of(base, bytes);
  if (names_host && !on_host(s, range)) return Status::not_supported;
  machine::MulticastRanges& multicasts = Core::get().memory.multicasts();
  Status status = for_mappings(s, range, [&](DevicePointer at, Mapping& m) {
    m.reach = (m.reach & ~closed) | opened;
    if (m.multicast && m.reach) multicasts.map(at, m.bytes, m.multicast);
    if (m.multicast && !m.reach) multicasts.unmap(at);
  });
  if (status == Status::success) adopt_runs(s);
  return status;
}

Status get_access(unsigned long long* flags, const abi::Location* location, DevicePointer inside) {
  Space& s = space();
  if (!flags || !location) return Status::invalid_value;
  std::lock_guard lock(mapping_mutex());
  const auto it = mapping_at(s, inside);
  if (it == s.mappings.end()) return Status::invalid_value;
  const bool open = location->type == abi::location_device
                        ? device_at(location->id) && it->second.reach & bit(location->id)
                        : it->second.physical && !it->second.physical->on_device();
  *flags = open ? access_read_write : access_none;
  return Status::success;
}

Status retain(unsigned long long* handle, void* inside) {
  Space& s = space();
  std::lock_guard lock(mapping_mutex());
  const auto it = mapping_at(s, address(inside));
  if (!handle || it == s.mappings.end()) return Status::invalid_value;
  const auto physical = it->second.physical;
  if (!physical) return Status::invalid_value;
  ++physical->handles;
  *handle = address(physicals().add(physical));
  return Status::success;
}

}  // namespace

Physical::Physical(const AllocationProperties& properties, std::size_t bytes)
    : properties(properties), bytes(bytes), file_(make_file(properties, bytes)) {
  made_ = counted_ = file_.owns() && take();
}

Physical::Physical(const AllocationProperties& properties, std::size_t bytes,
                   host::OwnDescriptor file)
    : properties(properties), bytes(bytes), file_(std::move(file)), made_(true) {}

bool Physical::take() {
  return on_device() ? Core::get().take_physical(properties.location.id, bytes)
                     : Core::get().take_host_share(bytes);
}

Physical::~Physical() {
  if (counted_ && on_device()) Core::get().give_back_physical(properties.location.id, bytes);
  if (counted_ && !on_device()) Core::get().memory.host_share().give_back(bytes);
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
  const auto found = mapping_at(space(), inside);
  if (found == space().mappings.end()) return {};
  return {found->second.physical, inside - found->first};
}

DevicePointer mapped_place(const Physical& physical, std::size_t from, std::size_t bytes) {
  for (const auto& [base, mapping] : space().mappings)
    if (mapping.physical.get() == &physical && mapping.reach &&
        (Checked(from) + bytes).within(mapping.bytes))
      return base + from;
  return 0;
}

MappedRange mapping_of(DevicePointer inside) {
  const std::lock_guard lock(mapping_mutex());
  const auto found = mapping_at(space(), inside);
  if (found == space().mappings.end()) return {};
  return {found->first, found->second.bytes};
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
