// Devices by their PCI addresses.
#pragma once
#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// The device at an address as programs write it, with or without its domain or function: "0:1:1f",
// "01:1F.0". invalid_value: it is no address; invalid_device: no device is there.
Status find_by_pci_address(const char* text, int* ordinal);

}  // namespace inflight::cuda
