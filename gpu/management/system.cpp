// NVML: initialisation, versions, and functions without a device.
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string>

#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/management/library.hpp"

namespace inflight::management {
namespace {

// There is no NVIDIA driver. The series (580) matches the CUDA version, but NVIDIA has no such
// driver version.
constexpr std::string_view driver_version = "580.00.00", driver_branch = "r580_00";
constexpr std::string_view library_version = "13.580.00.00";

struct Text {
  int code;
  const char* text;
};
constexpr Text texts[] = {
    {0, "Success"},
    {1, "Uninitialized"},
    {2, "Invalid Argument"},
    {3, "Not Supported"},
    {4, "Insufficient Permissions"},
    {5, "Already Initialized"},
    {6, "Not Found"},
    {7, "Insufficient Size"},
    {8, "Insufficient External Power"},
    {9, "Driver Not Loaded"},
    {10, "Timeout"},
    {11, "Interrupt Request Issue"},
    {12, "NVML Shared Library Not Found"},
    {13, "Function Not Found"},
    {14, "Corrupted infoROM"},
    {15, "GPU is lost"},
    {16, "GPU requires reset"},
    {17, "The operating system has blocked the request"},
    {18, "Driver/library version mismatch"},
    {19, "In use by another client"},
    {20, "Insufficient Memory"},
    {21, "No data"},
    {22, "Not Supported with ECC enabled"},
    {23, "Insufficient Resources"},
    {24, "Frequency Not Supported"},
    {25, "Argument Version Mismatch"},
    {26, "Deprecated"},
    {27, "Not Ready"},
    {28, "GPU Not Found"},
    {29, "Invalid State"},
    {30, "Reset Type Not Supported"},
};

// The name with which the process was started. Empty if there is no such process.
std::string process_name(unsigned pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string name;
  std::getline(file, name, '\0');
  return name;
}

Return store_process_name(unsigned pid, char* to, unsigned bytes) {
  if (!to || bytes == 0) return Return::invalid_argument;
  const std::string name = process_name(pid);
  if (name.empty()) return Return::not_found;
  return store_text(std::string_view(name).substr(0, bytes - 1), to, bytes);
}

int start() {
  initialize();
  return int(Return::success);
}

}  // namespace

INFLIGHT_NVML_EXPORT int nvmlInit() { return start(); }
INFLIGHT_NVML_EXPORT int nvmlInit_v2() { return start(); }
INFLIGHT_NVML_EXPORT int nvmlInitWithFlags(unsigned) { return start(); }
INFLIGHT_NVML_EXPORT int nvmlShutdown() { return int(shut_down()); }
INFLIGHT_NVML_EXPORT const char* nvmlErrorString(int code) {
  for (const Text& each : texts)
    if (each.code == code) return each.text;
  return "Unknown Error";
}

INFLIGHT_NVML(nvmlSystemGetDriverVersion, (char* to, unsigned bytes),
              { return store_text(driver_version, to, bytes); })
INFLIGHT_NVML(nvmlSystemGetNVMLVersion, (char* to, unsigned bytes),
              { return store_text(library_version, to, bytes); })
INFLIGHT_NVML(nvmlSystemGetDriverBranch, (DriverBranch * info, unsigned bytes), {
  if (!info || bytes == 0) return Return::invalid_argument;
  if (info->version != version_of<DriverBranch>(1)) return Return::version_mismatch;
  return store_text(driver_branch, info->branch, std::min<unsigned>(bytes, sizeof info->branch));
})
INFLIGHT_NVML(nvmlSystemGetCudaDriverVersion, (int* version),
              { return store(version, cuda::settings().driver_version); })
INFLIGHT_NVML(nvmlSystemGetCudaDriverVersion_v2, (int* version),
              { return store(version, cuda::settings().driver_version); })
INFLIGHT_NVML(nvmlSystemGetProcessName, (unsigned pid, char* to, unsigned bytes),
              { return store_process_name(pid, to, bytes); })
INFLIGHT_NVML(nvmlUnitGetCount, (unsigned* count), { return store(count, 0U); })

// Confidential computing is off.
INFLIGHT_NVML(nvmlSystemGetConfComputeState, (ConfidentialState * state),
              { return store(state, ConfidentialState{}); })
INFLIGHT_NVML(nvmlSystemGetConfComputeSettings, (ConfidentialSettings * settings), {
  if (!settings) return Return::invalid_argument;
  if (settings->version != version_of<ConfidentialSettings>(1)) return Return::version_mismatch;
  return store(settings, ConfidentialSettings{.version = settings->version});
})

}  // namespace inflight::management
