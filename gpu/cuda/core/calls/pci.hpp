// Lookup of devices by PCI address.
#pragma once
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// The device at a PCI address, with or without domain and function: "0:1:1f", "01:1F.0"
// (invalid_value: not an address; invalid_device: no device has it).
Status find_by_pci_address(const char* text, int* ordinal);

}  // namespace inflight::cuda
