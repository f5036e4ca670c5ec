// NVML: how devices reach one another, and fields that are asked for by number.
#include <chrono>

#include "gpu/management/library.hpp"

namespace inflight::management {
namespace {

// nvmlGpuP2PCapsIndex_t and nvmlGpuP2PStatus_t.
enum class Peer : int { read = 0, write = 1, nvlink = 2, atomics = 3, pci = 4 };
constexpr int peer_ok = 0, peer_not_supported = 5;

// As the driver says: devices reach each other's memory, over nothing that has a name.
Return store_peer_status(int* to, const Handle* peer, int index) {
  if (!ordinal_of(peer)) return Return::invalid_argument;
  switch (Peer(index)) {
    case Peer::read:
    case Peer::write:
    case Peer::atomics:
      return store(to, peer_ok);
    case Peer::nvlink:
    case Peer::pci:
      return store(to, peer_not_supported);
  }
  return Return::invalid_argument;
}

// Each field tells by a status of its own that it is not there.
Return refuse_fields(int count, FieldValue* values) {
  using namespace std::chrono;
  if (count <= 0 || !values) return Return::invalid_argument;
  const auto now = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
  for (int i = 0; i < count; ++i)
    values[i] = {.id = values[i].id,
                 .scope = values[i].scope,
                 .timestamp = now,
                 .status = Return::not_supported};
  return Return::success;
}

// NVML_GPU_FABRIC_STATE_NOT_SUPPORTED is 0, as is all else of a device in no fabric.
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
                     { return refuse_fields(count, values); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetGpuFabricInfo, (Handle * handle, Fabric1* info),
                     { return store(info, Fabric1{}); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetGpuFabricInfoV, (Handle * handle, std::uint32_t* info),
                     { return store_no_fabric(info); })

}  // namespace inflight::management
