// NVML's types as programs pass them, written from the NVML API Reference.
#pragma once
#include <cstddef>
#include <cstdint>

namespace inflight::management {

// nvmlReturn_t.
enum class Return : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  function_not_found = 13,
  memory = 20,
  version_mismatch = 25,
  unknown = 999,
};

struct Handle;  // nvmlDevice_t

// The version field that a caller sets: the size of the structure, and its version number from bit
// 24 on.
template <class Structure>
constexpr std::uint32_t version_of(unsigned number) {
  return std::uint32_t(sizeof(Structure)) | number << 24;
}

constexpr std::size_t short_bus_id_bytes = 16, bus_id_bytes = 32;

struct PciInfo {
  char short_bus_id[short_bus_id_bytes] = {};  // "0000:01:00.0"
  std::uint32_t domain = 0, bus = 0, device = 0;
  std::uint32_t device_id = 0, subsystem_id = 0;
  char bus_id[bus_id_bytes] = {};  // "00000000:01:00.0"
};
static_assert(sizeof(PciInfo) == 68);
// nvmlDeviceGetPciInfo and _v2 end before these fields.
constexpr std::size_t pci_info_1_bytes = offsetof(PciInfo, subsystem_id);
constexpr std::size_t pci_info_2_bytes = offsetof(PciInfo, bus_id);

struct PciInfoExt {
  std::uint32_t version = 0, domain = 0, bus = 0, device = 0, device_id = 0, subsystem_id = 0,
                base_class = 0, sub_class = 0;
  char bus_id[bus_id_bytes] = {};
};
static_assert(sizeof(PciInfoExt) == 64);

constexpr std::size_t uuid_text_bytes = 41, uuid_bytes = 16;
struct Uuid {
  enum class Type : std::uint32_t { text = 1, binary = 2 };
  std::uint32_t version = 0;
  Type type = Type::text;
  char value[uuid_text_bytes] = {};
};
static_assert(sizeof(Uuid) == 52);

struct Memory1 {
  std::uint64_t total = 0, free = 0, used = 0;
};
struct Memory2 {
  std::uint32_t version = 0;
  std::uint64_t total = 0, reserved = 0, free = 0, used = 0;
};
static_assert(sizeof(Memory2) == 40);

struct Utilization {
  std::uint32_t gpu = 0, memory = 0;  // percent
};

struct Process1 {
  std::uint32_t pid = 0;
  std::uint64_t memory = 0;
};
struct Process2 {
  std::uint32_t pid = 0;
  std::uint64_t memory = 0;
  std::uint32_t gpu_instance = 0, compute_instance = 0;
};
static_assert(sizeof(Process1) == 16 && sizeof(Process2) == 24);

struct FieldValue {
  std::uint32_t id = 0, scope = 0;
  std::int64_t timestamp = 0, latency = 0;  // microseconds
  std::int32_t type = 0;
  Return status = Return::success;
  std::uint64_t value = 0;
};
static_assert(sizeof(FieldValue) == 40);

struct Fabric1 {
  unsigned char cluster[16] = {};
  Return status = Return::success;
  std::uint32_t clique = 0;
  unsigned char state = 0;
};
struct Fabric2 {
  std::uint32_t version = 0;
  unsigned char cluster[16] = {};
  Return status = Return::success;
  std::uint32_t clique = 0;
  unsigned char state = 0;
  std::uint32_t health = 0;
};
struct Fabric3 {
  Fabric2 first = {};
  unsigned char summary = 0;
};
static_assert(sizeof(Fabric1) == 28 && sizeof(Fabric2) == 36 && sizeof(Fabric3) == 40);

struct ConfidentialState {
  std::uint32_t environment = 0, feature = 0, developer_tools = 0;
};
struct ConfidentialSettings {
  std::uint32_t version = 0;
  ConfidentialState state = {};
  std::uint32_t several_gpus = 0;
};
static_assert(sizeof(ConfidentialSettings) == 20);

struct DriverBranch {
  std::uint32_t version = 0;
  char branch[80] = {};
};

}  // namespace inflight::management
