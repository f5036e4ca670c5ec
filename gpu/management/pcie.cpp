// The PCI Express link to the host, as the machines that the profiles describe have it: 16 lanes,
// of the generation of the GPU's architecture (5 on an H100).
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/management/library.hpp"

using namespace inflight::management;

namespace {

constexpr unsigned lanes = 16;

unsigned generation() {
  constexpr unsigned first_of_5 = 90;  // compute capability
  return profile().architecture.number >= first_of_5 ? 5 : 4;
}
// MB/s of a lane, which doubled with each generation since the third.
unsigned speed() { return 8000u << (generation() - 3); }

}  // namespace

INFLIGHT_NVML_DEVICE(nvmlDeviceGetCurrPcieLinkGeneration, (Handle * handle, unsigned* to),
                     { return store(to, generation()); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetMaxPcieLinkGeneration, (Handle * handle, unsigned* to),
                     { return store(to, generation()); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetGpuMaxPcieLinkGeneration, (Handle * handle, unsigned* to),
                     { return store(to, generation()); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetCurrPcieLinkWidth, (Handle * handle, unsigned* to),
                     { return store(to, lanes); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetMaxPcieLinkWidth, (Handle * handle, unsigned* to),
                     { return store(to, lanes); })
// nvmlPcieLinkMaxSpeed, whose values are the generations.
INFLIGHT_NVML_DEVICE(nvmlDeviceGetPcieLinkMaxSpeed, (Handle * handle, unsigned* to),
                     { return store(to, generation()); })
INFLIGHT_NVML_DEVICE(nvmlDeviceGetPcieSpeed, (Handle * handle, unsigned* to),
                     { return store(to, speed()); })
