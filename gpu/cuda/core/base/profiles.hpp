// The devices that the software GPU can be, with every property that programs can query.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gpu/cuda/image/fatbin.hpp"
#include "gpu/machine/config/limits.hpp"

namespace inflight::cuda {

// cudaDevAttr* and CU_DEVICE_ATTRIBUTE_* share their numbers, 1 to attribute_count - 1.
inline constexpr int attribute_count = 148;

// The attributes that this code uses, with their public numbers.
enum class Attribute : int {
  multiprocessors = 16,
  max_threads_per_block = 1,
  shared_per_block = 8,
  constant_memory = 9,
  warp_size = 10,
  registers_per_block = 12,
  clock_khz = 13,
  pci_bus = 33,
  pci_device = 34,
  memory_clock_khz = 36,
  bus_width = 37,
  l2_bytes = 38,
  threads_per_multiprocessor = 39,
  pci_domain = 50,
  capability_major = 75,
  capability_minor = 76,
  shared_per_multiprocessor = 81,
  registers_per_multiprocessor = 82,
  shared_per_block_optin = 97,
  multicast = 132,
  blocks_per_multiprocessor = 106,
  reserved_shared_per_block = 111,
};

inline constexpr int first_with_clusters = 90;  // sm number

struct Profile {
  std::string_view name;   // "h200", as --device takes it
  std::string_view title;  // "NVIDIA H200", as in cudaDeviceProp::name
  Architecture architecture;
  std::uint64_t memory = 0;  // bytes
  std::size_t column = 0;    // in the table of attributes

  // The attribute's value, or nothing for a number that CUDA 13.0 does not define. `ordinal` is the
  // device's number, which the PCI address depends on.
  std::optional<int> attribute(int number, int ordinal = 0) const;
  int operator[](Attribute a) const { return attribute(int(a)).value_or(0); }
  machine::Limits limits() const;
};

std::span<const Profile> profiles();
// The profile of that name, or null.
const Profile* find_profile(std::string_view name);

// The public name of an attribute ("MaxThreadsPerBlock"), or an empty text.
std::string_view attribute_name(int number);

// The UUID of the machine's device with this index: 16 bytes that differ between devices and are
// the same in every run.
void fill_uuid(const Profile&, int index, void* uuid);
// The same as nvidia-smi writes it: "GPU-" and groups of 4, 2, 2, 2 and 6 bytes.
std::string uuid_text(const Profile&, int index);
// "0000:01:00.0"
std::string pci_address(const Profile&, int index);

// The layouts of cudaDeviceProp: CUDA 12 added fields to CUDA 11's, and CUDA 13 removed eight
// fields and added seven.
enum class PropertyLayout { cuda11, cuda12, cuda13 };
constexpr std::size_t property_bytes(PropertyLayout layout) {
  constexpr std::size_t sizes[] = {728, 1032, 1008};
  return sizes[std::size_t(layout)];
}
void fill_properties(const Profile&, int index, void* properties,
                     PropertyLayout layout = PropertyLayout::cuda13);

}  // namespace inflight::cuda
