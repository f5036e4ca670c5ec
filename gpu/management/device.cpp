// NVML: finding devices and reading their properties.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string>

#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/management/library.hpp"

namespace inflight::management {
namespace {

using cuda::Attribute;

struct Address {
  std::uint32_t domain = 0, bus = 0, device = 0, function = 0;
  bool operator==(const Address&) const = default;
};

Address address_of(unsigned ordinal) {
  auto value = [&](Attribute a) {
    return std::uint32_t(profile().attribute(int(a), int(ordinal)).value_or(0));
  };
  return {value(Attribute::pci_domain), value(Attribute::pci_bus), value(Attribute::pci_device)};
}

// Removes a hexadecimal number and the `mark` after it from `text`. mark 0: the end of the text.
bool take(std::string_view& text, char mark, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc{}) return false;
  text.remove_prefix(std::size_t(end - text.data()));
  if (mark == 0) return text.empty();
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(1);
  return true;
}

// domain:bus:device.function, domain:bus:device or bus:device.function.
std::optional<Address> read_address(std::string_view text) {
  const bool function = text.find('.') != text.npos;
  const bool domain = text.find(':') != text.rfind(':');
  if (!function && !domain) return std::nullopt;
  Address address;
  if (domain && !take(text, ':', address.domain)) return std::nullopt;
  if (!take(text, ':', address.bus)) return std::nullopt;
  if (!take(text, function ? '.' : '\0', address.device)) return std::nullopt;
  if (function && !take(text, '\0', address.function)) return std::nullopt;
  return address;
}

Return store_handle_at(Handle** to, unsigned ordinal) {
  return ordinal < device_count() ? store(to, handle_of(ordinal)) : Return::not_found;
}

template <class Matches>
Return store_first(Handle** to, Matches matches) {
  if (!to) return Return::invalid_argument;
  unsigned ordinal = 0;
  while (ordinal < device_count() && !matches(ordinal)) ++ordinal;
  return store_handle_at(to, ordinal);
}

Return store_by_address(Handle** to, const char* text) {
  const auto address = text ? read_address(text) : std::nullopt;
  if (!address) return Return::invalid_argument;
  return store_first(to, [&](unsigned ordinal) { return address_of(ordinal) == *address; });
}

std::array<unsigned char, uuid_bytes> uuid_of(unsigned ordinal) {
  std::array<unsigned char, uuid_bytes> uuid;
  cuda::fill_uuid(profile(), int(ordinal), uuid.data());
  return uuid;
}

std::string uuid_text(unsigned ordinal) { return cuda::uuid_text(profile(), int(ordinal)); }

Return store_by_uuid(Handle** to, const Uuid* asked) {
  if (!asked || !to) return Return::invalid_argument;
  if (asked->version != version_of<Uuid>(1)) return Return::version_mismatch;
  switch (asked->type) {
    case Uuid::Type::text:
      return store_first(to, [&](unsigned ordinal) {
        return std::string_view(asked->value, strnlen(asked->value, uuid_text_bytes)) ==
               uuid_text(ordinal);
      });
    case Uuid::Type::binary:
      return store_first(to, [&](unsigned ordinal) {
        return std::memcmp(asked->value, uuid_of(ordinal).data(), uuid_bytes) == 0;
      });
  }
  return Return::invalid_argument;
}

// Vendor and product ids are 0, which no real device has.
PciInfo pci_info(unsigned ordinal) {
  const Address address = address_of(ordinal);
  PciInfo info{.domain = address.domain, .bus = address.bus, .device = address.device};
  cuda::pci_address(profile(), int(ordinal)).copy(info.short_bus_id, short_bus_id_bytes - 1);
  fmt::format("{:08X}:{:02X}:{:02X}.0", address.domain, address.bus, address.device)
      .copy(info.bus_id, bus_id_bytes - 1);
  return info;
}

// Writes nothing behind the text at the end, as NVIDIA's library does (asked on an H100). NCCL 2.30
// gives nvmlDeviceGetPciInfo_v3 a structure that ends shortly before.
Return store_pci_info(void* to, unsigned ordinal, std::size_t bytes) {
  if (!to) return Return::invalid_argument;
  const PciInfo info = pci_info(ordinal);
  const std::size_t written = offsetof(PciInfo, bus_id) + std::strlen(info.bus_id) + 1;
  std::memcpy(to, &info, std::min(bytes, written));
  return Return::success;
}

Return store_pci_info_ext(PciInfoExt* to, unsigned ordinal) {
  if (!to) return Return::invalid_argument;
  if (to->version != version_of<PciInfoExt>(1)) return Return::version_mismatch;
  const PciInfo info = pci_info(ordinal);
  PciInfoExt result{
      .version = to->version, .domain = info.domain, .bus = info.bus, .device = info.device};
  std::memcpy(result.bus_id, info.bus_id, bus_id_bytes);
  *to = result;
  return Return::success;
}

// nvmlDeviceArchitecture_t, by the lowest compute capability of each.
struct Generation {
  unsigned capability;
  std::uint32_t number;
};
constexpr Generation generations[] = {{100, 10}, {90, 9}, {89, 8}, {80, 7}};

Return store_architecture(std::uint32_t* to) {
  const unsigned capability = profile().architecture.number;
  for (const Generation& each : generations)
    if (capability >= each.capability) return store(to, each.number);
  return Return::unknown;
}

}  // namespace

INFLIGHT_NVML(nvmlDeviceGetCount, (unsigned* count), { return store(count, device_count()); })
INFLIGHT_NVML(nvmlDeviceGetCount_v2, (unsigned* count), { return store(count, device_count()); })

namespace {

Return store_by_index(Handle** to, unsigned index) {
  return index < device_count() ? store(to, handle_of(index)) : Return::invalid_argument;
}

}  // namespace

INFLIGHT_NVML(nvmlDeviceGetHandleByIndex, (unsigned index, Handle** to),
              { return store_by_index(to, index); })
INFLIGHT_NVML(nvmlDeviceGetHandleByIndex_v2, (unsigned index, Handle** to),
              { return store_by_index(to, index); })
INFLIGHT_NVML(nvmlDeviceGetHandleByPciBusId, (const char* text, Handle** to),
              { return store_by_address(to, text); })
INFLIGHT_NVML(nvmlDeviceGetHandleByPciBusId_v2, (const char* text, Handle** to),
              { return store_by_address(to, text); })
INFLIGHT_NVML(nvmlDeviceGetHandleByUUID, (const char* text, Handle** to), {
  if (!text) return Return::invalid_argument;
  // The prefix "GPU-" may be left out.
  return store_first(to, [&](unsigned ordinal) {
    const std::string whole = uuid_text(ordinal);
    return whole == text || whole.substr(whole.find('-') + 1) == text;
  });
})
INFLIGHT_NVML(nvmlDeviceGetHandleByUUIDV, (const Uuid* asked, Handle** to),
              { return store_by_uuid(to, asked); })

INFLIGHT_NVML_DEVICE(nvmlDeviceGetIndex, (Handle * handle, unsigned* index),
                     { return store(index, ordinal); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetName, (Handle * handle, char* to, unsigned bytes),
                     { return store_text(profile().title, to, bytes); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetUUID, (Handle * handle, char* to, unsigned bytes),
                     { return store_text(uuid_text(ordinal), to, bytes); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetPciInfo, (Handle * handle, PciInfo* to),
                     { return store_pci_info(to, ordinal, pci_info_1_bytes); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetPciInfo_v2, (Handle * handle, PciInfo* to),
                     { return store_pci_info(to, ordinal, pci_info_2_bytes); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetPciInfo_v3, (Handle * handle, PciInfo* to),
                     { return store_pci_info(to, ordinal, sizeof(PciInfo)); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetPciInfoExt, (Handle * handle, PciInfoExt* to),
                     { return store_pci_info_ext(to, ordinal); })
// NVML_BRAND_UNKNOWN, because it is not an NVIDIA product.
INFLIGHT_NVML_DEVICE(nvmlDeviceGetBrand, (Handle * handle, int* brand), { return store(brand, 0); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetArchitecture, (Handle * handle, std::uint32_t* architecture),
                     { return store_architecture(architecture); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetCudaComputeCapability, (Handle * handle, int* major, int* minor),
                     {
                       if (!major || !minor) return Return::invalid_argument;
                       *major = profile()[Attribute::capability_major];
                       *minor = profile()[Attribute::capability_minor];
                       return Return::success;
                     })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetMemoryBusWidth, (Handle * handle, unsigned* bits),
                     { return store(bits, unsigned(profile()[Attribute::bus_width])); })
// NVML_COMPUTEMODE_DEFAULT, consistent with the driver.
INFLIGHT_NVML_DEVICE(nvmlDeviceGetComputeMode, (Handle * handle, int* mode),
                     { return store(mode, 0); })
// NVML_GPU_VIRTUALIZATION_MODE_NONE.
INFLIGHT_NVML_DEVICE(nvmlDeviceGetVirtualizationMode, (Handle * handle, int* mode),
                     { return store(mode, 0); })
INFLIGHT_NVML_DEVICE(nvmlDeviceIsMigDeviceHandle, (Handle * handle, unsigned* is),
                     { return store(is, 0U); })

}  // namespace inflight::management
