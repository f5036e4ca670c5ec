// What nvidia-smi says of the machine and of each device.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace inflight::smi {

struct Device {
  unsigned index = 0;
  std::string name, uuid, bus_id, capability;  // capability: "9.0"
  unsigned domain = 0, bus = 0, device = 0, device_id = 0;
  unsigned long long total = 0, used = 0, free = 0;  // MiB
};
struct Machine {
  std::string driver, cuda;  // versions
  std::vector<Device> devices;
};
// Empty versions if NVML cannot be initialised.
Machine read_machine();

// The value of a field of --query-gpu, "[N/A]" where a software GPU has none, or null for a name
// that nvidia-smi does not know. `unit` is what follows a number, as " MiB".
struct Value {
  std::string text;
  std::string_view unit;
};
bool is_field(std::string_view name);
Value value_of(std::string_view field, const Machine& machine, const Device& device);
// The unit in the field's heading, as " [MiB]", or empty.
std::string heading_of(std::string_view field);

}  // namespace inflight::smi
