// Driver API: memory without an address, passed to other processes as a descriptor of its file. The
// file's name says where the memory is. It cannot change, and other processes can read it from the
// descriptor.
#include "gpu/cuda/driver/shareable.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "gpu/cuda/driver/shared_multicast.hpp"

namespace inflight::cuda::driver {
namespace {

// The location's type, and a device's index on the machine or a NUMA node's number.
constexpr const char* name_format = "inflight memory at %d.%d";

std::string link_of(int file) {
  char text[128];
  const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", file).c_str(), text, sizeof text);
  return {text, std::size_t(std::max<ssize_t>(length, 0))};
}

// The location in the file's name. Empty: not a file of this library.
std::optional<abi::Location> location_of(int file) {
  abi::Location location{};
  const std::string link = link_of(file), format = std::string("/memfd:") + name_format;
  if (std::sscanf(link.c_str(), format.c_str(), &location.type, &location.id) != 2)
    return std::nullopt;
  if (location.type == abi::location_device) location.id = visible_ordinal(location.id);
  return location;
}

std::shared_ptr<Physical> found(unsigned long long handle) {
  return physicals().find(pointer(handle));
}

// The file of an exportable handle, or -1.
int file_of(unsigned long long handle) {
  const auto physical = found(handle);
  if (!physical) return multicast_file(handle);
  return physical->properties.handle_types & handle_file ? physical->file() : -1;
}

Status export_file(int* to, unsigned long long handle, int type, unsigned long long flags) {
  const int file = file_of(handle);
  if (!to || flags || type != handle_file || file < 0) return Status::invalid_value;
  const int copy = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return Status::out_of_memory;
  *to = copy;
  return Status::success;
}

Status import_file(unsigned long long* handle, int given, int type) {
  if (!handle || type != handle_file) return Status::invalid_value;
  if (fcntl(given, F_GETFD) < 0) return Status::unknown;
  const auto location = location_of(given);
  if (!location) {
    if (link_of(given).find(SharedMulticast::file_name) == std::string::npos)
      return Status::invalid_value;
    const auto multicast = import_multicast(given);
    if (multicast) *handle = *multicast;
    return report(multicast);
  }
  struct stat facts {};
  if (fstat(given, &facts) != 0) return Status::invalid_value;
  Descriptor file(fcntl(given, F_DUPFD_CLOEXEC, 0));
  if (file.number() < 0) return Status::out_of_memory;
  AllocationProperties properties{};
  properties.type = abi::allocation_pinned;
  properties.handle_types = type;
  properties.location = *location;
  std::lock_guard lock(mapping_mutex());
  *handle = address(physicals().add(
      std::make_shared<Physical>(properties, std::size_t(facts.st_size), std::move(file))));
  return Status::success;
}

}  // namespace

Descriptor make_file(const AllocationProperties& properties) {
  const abi::Location at = properties.location;
  const int id = at.type == abi::location_device ? Core::get().device(at.id).index : at.id;
  char name[64];
  std::snprintf(name, sizeof name, name_format, at.type, id);
  return Descriptor(memfd_create(name, MFD_CLOEXEC));
}

INFLIGHT_CU_INIT(cuMemExportToShareableHandle,
                 (void* to, unsigned long long handle, int type, unsigned long long flags),
                 { return export_file(static_cast<int*>(to), handle, type, flags); })
INFLIGHT_CU_INIT(cuMemImportFromShareableHandle, (unsigned long long* handle, void* file, int type),
                 { return import_file(handle, int(address(file)), type); })

}  // namespace inflight::cuda::driver
