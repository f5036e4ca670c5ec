// The functions that are registered for notifications.
#include "gpu/cuda/core/calls/notices.hpp"

#include "gpu/cuda/core/base/handles.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

struct Registration {
  int device;
};

Handles<Registration>& registrations() {
  static auto& instance = *new Handles<Registration>;
  return instance;
}

}  // namespace

Status add_notices(void** place, int device, const void* function) {
  if (!device_exists(device)) return Status::invalid_device;
  if (!place || !function) return Status::invalid_value;
  *place = registrations().add(std::make_shared<Registration>(Registration{device}));
  return Status::success;
}

Status remove_notices(int device, const void* handle) {
  if (!device_exists(device)) return Status::invalid_device;
  const auto found = registrations().find(handle);
  if (!found || found->device != device) return Status::invalid_value;
  registrations().remove(handle);
  return Status::success;
}

}  // namespace inflight::cuda
