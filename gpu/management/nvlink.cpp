// NVML: the NVLinks of a device, as on the machines that the profiles describe. All links lead to
// switches, which programs do not see on a bus. The links of a single device are down.
#include "gpu/management/nvlink.hpp"

#include <cstring>

#include "gpu/cuda/core/base/profiles.hpp"

namespace inflight::management {
namespace {

// Links per device and nvmlNvlinkVersion_t, by the lowest compute capability of a generation.
struct Generation {
  int capability;
  unsigned links, version;
};
constexpr Generation generations[] = {{90, 18, 6}, {80, 12, 4}};
constexpr Generation no_links{};

const Generation& generation() {
  for (const Generation& each : generations)
    if (profile().architecture.number >= each.capability) return each;
  return no_links;
}

constexpr int last_capability = 5;  // of nvmlNvLinkCapability_t; links have all of them

// nvmlIntNvLinkDeviceType_t.
constexpr int to_switch = 2;

// As reported by two H200s in a virtual machine that has the GPUs but not the switches.
PciInfo unseen_switch() {
  PciInfo info{.domain = 0xffffffff, .bus = 0xff, .device = 0xff, .device_id = 0xffffffff};
  std::memcpy(info.short_bus_id, "FFFFFFF:FF:FF.0", sizeof info.short_bus_id);
  std::strcpy(info.bus_id, "FFFFFFFF:FF:FF.0");
  return info;
}

// Returns answer() if the device has the link.
template <class Answer>
Return of_link(unsigned link, Answer answer) {
  return link < nvlinks() ? answer() : Return::invalid_argument;
}

Return store_capability(unsigned* to, unsigned link, int capability) {
  if (capability < 0 || capability > last_capability) return Return::invalid_argument;
  return of_link(link, [&] { return store(to, 1U); });
}

Return store_remote(void* to, unsigned link, std::size_t bytes) {
  if (!to) return Return::invalid_argument;
  if (!nvlinks_up()) return Return::not_supported;
  return of_link(link, [&] {
    const PciInfo info = unseen_switch();
    std::memcpy(to, &info, bytes);
    return Return::success;
  });
}

}  // namespace

unsigned nvlinks() { return generation().links; }

bool nvlinks_up() { return nvlinks() > 0 && device_count() > 1; }

INFLIGHT_NVML_DEVICE(nvmlDeviceGetNvLinkState, (Handle * handle, unsigned link, int* active),
                     { return of_link(link, [&] { return store(active, int(nvlinks_up())); }); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetNvLinkVersion,
                     (Handle * handle, unsigned link, unsigned* version), {
                       return of_link(link, [&] { return store(version, generation().version); });
                     })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetNvLinkCapability,
                     (Handle * handle, unsigned link, int capability, unsigned* has),
                     { return store_capability(has, link, capability); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetNvLinkRemotePciInfo,
                     (Handle * handle, unsigned link, PciInfo* to),
                     { return store_remote(to, link, pci_info_2_bytes); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetNvLinkRemotePciInfo_v2,
                     (Handle * handle, unsigned link, PciInfo* to),
                     { return store_remote(to, link, sizeof(PciInfo)); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetNvLinkRemoteDeviceType,
                     (Handle * handle, unsigned link, int* type), {
                       if (!nvlinks_up()) return Return::not_supported;
                       return of_link(link, [&] { return store(type, to_switch); });
                     })

}  // namespace inflight::management
