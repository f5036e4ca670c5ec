// libcupti.so.13: a software GPU has no counters and no activity records. Functions return
// CUPTI_ERROR_NOT_SUPPORTED, on which profilers such as PyTorch's measure only the host.
#include <cstdint>

namespace {

// CUptiResult.
enum Result : int { success = 0, invalid_parameter = 1, not_supported = 27 };
constexpr std::uint32_t api_version = INFLIGHT_CUPTI_VERSION;

}  // namespace

#define INFLIGHT_EXPORT extern "C" __attribute__((visibility("default")))

INFLIGHT_EXPORT int cuptiGetVersion(std::uint32_t* version) {
  if (!version) return invalid_parameter;
  *version = api_version;
  return success;
}

INFLIGHT_EXPORT int cuptiGetResultString(int result, const char** text) {
  if (!text) return invalid_parameter;
  *text = result == success
              ? "CUPTI_SUCCESS"
              : "CUPTI_ERROR_NOT_SUPPORTED: the software GPU has no CUPTI; 'inflight run "
                "--stats' counts what kernels do";
  return success;
}

INFLIGHT_EXPORT int cuptiGetErrorMessage(int result, const char** text) {
  return cuptiGetResultString(result, text);
}

#define INFLIGHT_CUPTI(name) \
  INFLIGHT_EXPORT int name() { return not_supported; }
#include "cupti_names.def"
