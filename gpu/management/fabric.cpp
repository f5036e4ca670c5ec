// NVML: peer access between devices, fields queried by number, and fabric information.
#include <chrono>

#include "gpu/management/nvlink.hpp"

namespace inflight::management {
namespace {

// nvmlGpuP2PCapsIndex_t and nvmlGpuP2PStatus_t.
enum class Peer : int { read = 0, write = 1, nvlink = 2, atomics = 3, pci = 4, unknown = 5 };
constexpr int peer_ok = 0, peer_not_supported = 5;

// Consistent with the driver: devices can access each other's memory.
Return store_peer_status(int* to, const Handle* peer, int index) {
  if (!ordinal_of(peer)) return Return::invalid_argument;
  switch (Peer(index)) {
    case Peer::read:
    case Peer::write:
    case Peer::atomics:
    case Peer::unknown:  // same answer as an H200
      return store(to, peer_ok);
    case Peer::nvlink:
      return store(to, nvlinks_up() ? peer_ok : peer_not_supported);
    case Peer::pci:
      return store(to, peer_not_supported);
  }
  return Return::invalid_argument;
}

// NVML_FI_DEV_...
constexpr std::uint32_t field_link_count = 91, field_link_state = 165;
constexpr int type_unsigned = 1;  // NVML_VALUE_TYPE_UNSIGNED_INT

std::optional<std::uint64_t> value_of(const FieldValue& field) {
  if (field.id == field_link_count) return nvlinks();
  if (field.id == field_link_state && field.scope < nvlinks()) return nvlinks_up();
  return std::nullopt;
}

// Each field has its own status, not_supported if it is unknown.
Return store_fields(int count, FieldValue* values) {
  using namespace std::chrono;
  if (count <= 0 || !values) return Return::invalid_argument;
  const auto now = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
  for (int i = 0; i < count; ++i) {
    const auto value = value_of(values[i]);
    values[i] = {.id = values[i].id,
                 .scope = values[i].scope,
                 .timestamp = now,
                 .type = value ? type_unsigned : 0,
                 .status = value ? Return::success : Return::not_supported,
                 .value = value.value_or(0)};
  }
  return Return::success;
}

// NVML_GPU_FABRIC_STATE_NOT_SUPPORTED is 0, like all other members for a device without a fabric.
Return store_no_fabric(std::uint32_t* version) {
  if (!version) return Return::invalid_argument;
  const std::uint32_t given = *version;
  if (given == version_of<Fabric2>(2))
    *reinterpret_cast<Fabric2*>(version) = {.version = given};
  else if (given == version_of<Fabric3>(3))
    *reinterpret_cast<Fabric3*>(version) = {.first = {.version = given}};
  else
    return Return::version_mismatch;
  return Return::success;
}

}  // namespace

INFLIGHT_NVML_DEVICE(nvmlDeviceGetP2PStatus,
                     (Handle * handle, Handle* peer, int index, int* status),
                     { return store_peer_status(status, peer, index); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetFieldValues, (Handle * handle, int count, FieldValue* values),
                     { return store_fields(count, values); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetGpuFabricInfo, (Handle * handle, Fabric1* info),
                     { return store(info, Fabric1{}); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetGpuFabricInfoV, (Handle * handle, std::uint32_t* info),
                     { return store_no_fabric(info); })

}  // namespace inflight::management
