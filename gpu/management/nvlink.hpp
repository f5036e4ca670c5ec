// What NVML tells of NVLinks, in more calls than one.
#pragma once
#include "gpu/management/library.hpp"

namespace inflight::management {

unsigned nvlinks();  // of a device
bool nvlinks_up();   // do they lead to other devices?

}  // namespace inflight::management
