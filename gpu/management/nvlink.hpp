// NVLink facts that several NVML calls report.
#pragma once
#include "gpu/management/library.hpp"

namespace inflight::management {

unsigned nvlinks();  // number of links of a device
bool nvlinks_up();   // whether they connect to other devices

}  // namespace inflight::management
