// Parses PCI addresses and finds their devices.
#include "gpu/cuda/core/calls/pci.hpp"

#include <cstdio>
#include <optional>

#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  bool operator==(const PciAddress&) const = default;
};

std::optional<PciAddress> parse_pci(const char* text) {
  PciAddress a;
  if (std::sscanf(text, "%x:%x:%x.%x", &a.domain, &a.bus, &a.device, &a.function) >= 3) return a;
  a.domain = 0;
  if (std::sscanf(text, "%x:%x.%x", &a.bus, &a.device, &a.function) >= 2) return a;
  return std::nullopt;
}

}  // namespace

Status find_by_pci_address(const char* text, int* ordinal) {
  const auto wanted = text ? parse_pci(text) : std::nullopt;
  if (!wanted || !ordinal) return Status::invalid_value;
  Core& core = Core::get();
  for (int i = 0; i < core.device_count(); ++i) {
    const Device& device = core.device(i);
    if (parse_pci(pci_address(device.profile, device.index).c_str()) != wanted) continue;
    *ordinal = i;
    return Status::success;
  }
  return Status::invalid_device;
}

}  // namespace inflight::cuda
