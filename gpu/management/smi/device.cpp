// Asks NVML for the devices, and gives the fields of --query-gpu.
#include "gpu/management/smi/device.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>

#include "gpu/management/smi/nvml.hpp"

namespace inflight::smi {
namespace {

constexpr unsigned text_bytes = 96;

template <class Get>
std::string text_of(Get get) {
  char text[text_bytes] = {};
  return get(text, text_bytes) == 0 ? text : "";
}

Device read_device(unsigned index) {
  Device d;
  d.index = index;
  management::Handle* handle = nullptr;
  if (nvmlDeviceGetHandleByIndex_v2(index, &handle) != 0) return d;
  d.name = text_of([&](char* to, unsigned n) { return nvmlDeviceGetName(handle, to, n); });
  d.uuid = text_of([&](char* to, unsigned n) { return nvmlDeviceGetUUID(handle, to, n); });
  management::PciInfo pci;
  nvmlDeviceGetPciInfo_v3(handle, &pci);
  d.bus_id = pci.bus_id, d.domain = pci.domain, d.bus = pci.bus, d.device = pci.device;
  d.device_id = pci.device_id;
  management::Memory1 memory{};
  nvmlDeviceGetMemoryInfo(handle, &memory);
  // Rounded so that used and free add up to the total.
  constexpr unsigned mebi = 20;
  d.total = memory.total >> mebi, d.free = memory.free >> mebi, d.used = d.total - d.free;
  int major = 0, minor = 0;
  nvmlDeviceGetCudaComputeCapability(handle, &major, &minor);
  d.capability = fmt::format("{}.{}", major, minor);
  return d;
}

using Get = std::string (*)(const Machine&, const Device&);
struct Field {
  std::string_view name;
  Get get;  // null: a software GPU has none
  std::string_view unit;
};

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y/%m/%d %H:%M:%S}.000", fmt::localtime(now));
}

constexpr std::string_view mebibytes = " MiB", percent = " %", watts = " W", megahertz = " MHz";
#define INFLIGHT_VALUE(...)                                    \
  [](const Machine& machine, const Device& d) -> std::string { \
    return (void)machine, (void)d, __VA_ARGS__;                \
  }
constexpr Field fields[] = {
    {"timestamp", INFLIGHT_VALUE(timestamp()), ""},
    {"driver_version", INFLIGHT_VALUE(machine.driver), ""},
    {"count", INFLIGHT_VALUE(std::to_string(machine.devices.size())), ""},
    {"index", INFLIGHT_VALUE(std::to_string(d.index)), ""},
    {"name", INFLIGHT_VALUE(d.name), ""},
    {"gpu_name", INFLIGHT_VALUE(d.name), ""},
    {"uuid", INFLIGHT_VALUE(d.uuid), ""},
    {"gpu_uuid", INFLIGHT_VALUE(d.uuid), ""},
    {"gpu_bus_id", INFLIGHT_VALUE(d.bus_id), ""},
    {"pci.bus_id", INFLIGHT_VALUE(d.bus_id), ""},
    {"pci.domain", INFLIGHT_VALUE(fmt::format("0x{:04X}", d.domain)), ""},
    {"pci.bus", INFLIGHT_VALUE(fmt::format("0x{:02X}", d.bus)), ""},
    {"pci.device", INFLIGHT_VALUE(fmt::format("0x{:02X}", d.device)), ""},
    {"pci.device_id", INFLIGHT_VALUE(fmt::format("0x{:08X}", d.device_id)), ""},
    {"compute_cap", INFLIGHT_VALUE(d.capability), ""},
    {"compute_mode", INFLIGHT_VALUE("Default"), ""},
    {"memory.total", INFLIGHT_VALUE(std::to_string(d.total)), mebibytes},
    {"memory.reserved", INFLIGHT_VALUE("0"), mebibytes},
    {"memory.used", INFLIGHT_VALUE(std::to_string(d.used)), mebibytes},
    {"memory.free", INFLIGHT_VALUE(std::to_string(d.free)), mebibytes},
    {"utilization.gpu", INFLIGHT_VALUE("0"), percent},
    {"utilization.memory", INFLIGHT_VALUE("0"), percent},
    {"display_mode", INFLIGHT_VALUE("Disabled"), ""},
    {"display_active", INFLIGHT_VALUE("Disabled"), ""},
    {"persistence_mode", INFLIGHT_VALUE("Disabled"), ""},
    {"mig.mode.current", INFLIGHT_VALUE("Disabled"), ""},
    {"mig.mode.pending", INFLIGHT_VALUE("Disabled"), ""},
    {"serial", nullptr, ""},
    {"gpu_serial", nullptr, ""},
    {"vbios_version", nullptr, ""},
    {"pstate", nullptr, ""},
    {"fan.speed", nullptr, percent},
    {"temperature.gpu", nullptr, ""},
    {"temperature.memory", nullptr, ""},
    {"power.management", nullptr, ""},
    {"power.draw", nullptr, watts},
    {"power.limit", nullptr, watts},
    {"power.default_limit", nullptr, watts},
    {"power.max_limit", nullptr, watts},
    {"enforced.power.limit", nullptr, watts},
    {"clocks.gr", nullptr, megahertz},
    {"clocks.sm", nullptr, megahertz},
    {"clocks.mem", nullptr, megahertz},
    {"clocks.current.graphics", nullptr, megahertz},
    {"clocks.current.sm", nullptr, megahertz},
    {"clocks.current.memory", nullptr, megahertz},
    {"clocks.max.graphics", nullptr, megahertz},
    {"clocks.max.sm", nullptr, megahertz},
    {"clocks.max.memory", nullptr, megahertz},
    {"ecc.mode.current", nullptr, ""},
    {"ecc.mode.pending", nullptr, ""},
    {"pcie.link.gen.current", nullptr, ""},
    {"pcie.link.gen.max", nullptr, ""},
    {"pcie.link.width.current", nullptr, ""},
    {"pcie.link.width.max", nullptr, ""},
};
#undef INFLIGHT_VALUE

const Field* find(std::string_view name) {
  const auto* at = std::ranges::find(fields, name, &Field::name);
  return at == std::end(fields) ? nullptr : at;
}

}  // namespace

Machine read_machine() {
  Machine machine;
  if (nvmlInit_v2() != 0) return machine;
  machine.driver = text_of(nvmlSystemGetDriverVersion);
  int version = 0;
  nvmlSystemGetCudaDriverVersion(&version);
  machine.cuda = fmt::format("{}.{}", version / 1000, version / 10 % 100);
  unsigned count = 0;
  nvmlDeviceGetCount_v2(&count);
  for (unsigned i = 0; i < count; ++i) machine.devices.push_back(read_device(i));
  return machine;
}

bool is_field(std::string_view name) { return find(name) != nullptr; }

Value value_of(std::string_view name, const Machine& machine, const Device& device) {
  const Field* const field = find(name);
  if (!field || !field->get) return {"[N/A]", ""};
  return {field->get(machine, device), field->unit};
}

std::string heading_of(std::string_view name) {
  const Field* const field = find(name);
  return field && !field->unit.empty() ? fmt::format(" [{}]", field->unit.substr(1)) : "";
}

}  // namespace inflight::smi
