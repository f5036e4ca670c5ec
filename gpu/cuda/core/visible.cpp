// CUDA_VISIBLE_DEVICES: a list of indices and UUIDs.
#include "gpu/cuda/core/visible.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

namespace inflight::cuda {
namespace {

std::optional<int> by_uuid(std::string_view entry, int count,
                           const std::function<std::string(int)>& uuid) {
  std::optional<int> found;
  for (int i = 0; i < count; ++i) {
    if (!std::string_view(uuid(i)).starts_with(entry)) continue;
    if (found) return std::nullopt;  // the digits name several
    found = i;
  }
  return found;
}

std::optional<int> by_index(std::string_view entry, int count) {
  int index = -1;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (error != std::errc{} || index < 0 || index >= count) return std::nullopt;
  return index;
}

}  // namespace

std::vector<int> visible_devices(const char* list, int count,
                                 const std::function<std::string(int)>& uuid) {
  std::vector<int> devices;
  if (!list) {
    devices.resize(static_cast<std::size_t>(count));
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
  }
  for (std::string_view rest = list;;) {
    const auto comma = rest.find(',');
    const std::string_view entry = rest.substr(0, comma);
    const auto device =
        entry.starts_with("GPU-") ? by_uuid(entry, count, uuid) : by_index(entry, count);
    if (!device) return devices;
    devices.push_back(*device);
    if (comma == rest.npos) return devices;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace inflight::cuda
