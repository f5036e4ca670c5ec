// Driver API: memory without an address, passed to other processes as a descriptor of its file. The
// file's name says where the memory is. It cannot change, and other processes can read it from the
// descriptor.
#include "gpu/cuda/driver/shareable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "gpu/cuda/driver/shared_multicast.hpp"
#include "gpu/host/shared_file.hpp"

namespace inflight::cuda::driver {
namespace {

// Begins with host::physical_memory_file. The location's type, and a device's index on the machine
// or a NUMA node's number.
constexpr const char* name_format = "inflight memory at %d.%d";

// The location in a file's name. Nothing if there is no such place.
std::optional<abi::Location> location_in(const std::string& name) {
  abi::Location location{};
  if (std::sscanf(name.c_str(), name_format, &location.type, &location.id) != 2)
    return std::nullopt;
  if (location.type == abi::location_device) {
    location.id = visible_ordinal(location.id);
    return location;
  }
  return abi::is_on_host(location.type) ? std::optional(location) : std::nullopt;
}

std::shared_ptr<Physical> found(unsigned long long handle) {
  return physicals().find(pointer(handle));
}

// The file of a handle that may be exported, or nothing.
std::optional<int> file_of(unsigned long long handle) {
  const auto physical = found(handle);
  if (!physical) return multicast_file(handle);
  if (!(physical->properties.handle_types & handle_file)) return std::nullopt;
  return physical->file();
}

Status export_file(int* to, unsigned long long handle, int type, unsigned long long flags) {
  const auto file = file_of(handle);
  if (!to || flags || type != handle_file || !file) return Status::invalid_value;
  if (*file < 0) return lost_descriptor();
  const int copy = fcntl(*file, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return Status::out_of_memory;
  *to = copy;
  return Status::success;
}

Result<unsigned long long> import_memory(host::OwnDescriptor file, int type) {
  const auto facts = host::shared_file(file.fd(), host::physical_memory_file);
  const auto location = facts ? location_in(facts->name) : std::nullopt;
  if (!location || !whole(facts->bytes)) {
    return fail(Status::invalid_value,
                fmt::format("the file from which memory was to be imported {}.",
                            facts ? "has an impossible name or size" : facts.error()));
  }
  AllocationProperties properties{};
  properties.type = abi::allocation_pinned;
  properties.handle_types = type;
  properties.location = *location;
  std::lock_guard lock(mapping_mutex());
  return address(
      physicals().add(std::make_shared<Physical>(properties, facts->bytes, std::move(file))));
}

Status import_file(unsigned long long* handle, int given, int type) {
  if (!handle || type != handle_file) return Status::invalid_value;
  if (fcntl(given, F_GETFD) < 0) return Status::unknown;
  // A copy, so that the program cannot put another file there between the checks and the use.
  auto file = host::OwnDescriptor::take(fcntl(given, F_DUPFD_CLOEXEC, 0));
  if (!file.owns()) return Status::out_of_memory;
  const auto made = host::has_shared_name(file.fd(), host::multicast_file)
                        ? import_multicast(file.fd())
                        : import_memory(std::move(file), type);
  if (made) *handle = *made;
  return report(made);
}

}  // namespace

host::OwnDescriptor make_file(const AllocationProperties& properties, std::size_t bytes) {
  const abi::Location at = properties.location;
  const int id = at.type == abi::location_device ? Core::get().device(at.id).index : at.id;
  char name[64];
  std::snprintf(name, sizeof name, name_format, at.type, id);
  return host::make_shared_file(name, bytes);
}

INFLIGHT_CU_INIT(cuMemExportToShareableHandle,
                 (void* to, unsigned long long handle, int type, unsigned long long flags),
                 { return export_file(static_cast<int*>(to), handle, type, flags); })
INFLIGHT_CU_INIT(cuMemImportFromShareableHandle, (unsigned long long* handle, void* file, int type),
                 { return import_file(handle, int(address(file)), type); })

}  // namespace inflight::cuda::driver
