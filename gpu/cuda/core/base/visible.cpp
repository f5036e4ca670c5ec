// Reads CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER as an H200's driver does.
#include "gpu/cuda/core/base/visible.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string_view>

namespace inflight::cuda {
namespace {

constexpr std::string_view of_uuid = "GPU-";

bool starts_alike(std::string_view entry, std::string_view uuid) {
  const auto alike = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  const auto length = std::min(entry.size(), uuid.size());
  return std::equal(entry.begin(), entry.begin() + length, uuid.begin(), alike);
}

std::optional<int> by_uuid(std::string_view entry, int count,
                           const std::function<std::string(int)>& uuid) {
  std::optional<int> found;
  for (int i = 0; i < count && entry.size() > of_uuid.size(); ++i) {
    if (!starts_alike(entry, uuid(i))) continue;
    if (found) return std::nullopt;  // the prefix is ambiguous
    found = i;
  }
  return found;
}

// Parses like strtol: leading blanks and trailing text are ignored.
std::optional<int> by_index(const std::string& entry, int count) {
  char* end = nullptr;
  const long index = std::strtol(entry.c_str(), &end, 10);
  if (end == entry.c_str() || index < 0 || index >= count) return std::nullopt;
  return static_cast<int>(index);
}

}  // namespace

tl::expected<std::vector<int>, Status> visible_devices(
    const char* list, const char* order, int count, const std::function<std::string(int)>& uuid) {
  // All devices are equal, so either order is the order of their buses.
  if (order && std::string_view(order) != "PCI_BUS_ID" &&
      std::string_view(order) != "FASTEST_FIRST")
    return tl::unexpected(Status::invalid_device);
  std::vector<int> devices;
  if (!list) {
    devices.resize(static_cast<std::size_t>(count));
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
  }
  const bool uuids = std::string_view(list).starts_with(of_uuid);
  for (std::string_view rest = list;;) {
    const auto comma = rest.find(',');
    const std::string entry(rest.substr(0, comma));
    const auto device = uuids ? by_uuid(entry.starts_with(of_uuid) ? entry : "", count, uuid)
                              : by_index(entry, count);
    if (!device) break;
    if (std::find(devices.begin(), devices.end(), *device) != devices.end())
      return tl::unexpected(Status::invalid_device);
    devices.push_back(*device);
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (devices.empty()) return tl::unexpected(Status::no_device);
  return devices;
}

}  // namespace inflight::cuda
