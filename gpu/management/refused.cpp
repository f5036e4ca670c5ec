// Defines all other NVML functions, which return NVML_ERROR_NOT_SUPPORTED. The first such call is
// reported, except for queries that libraries make for every GPU when they start.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/management/library.hpp"

namespace inflight::management {
namespace {

struct Absent {
  std::string_view part;  // of the function's name
  std::string_view what;  // "a software GPU" and this; empty: not reported, as many GPUs lack it
};
// The first row whose part occurs in the name applies.
constexpr Absent absent[] = {
    {"NvLink", ""},
    {"Mig", ""},
    {"PlatformInfo", ""},
    {"Temp", "has no sensors"},
    {"Thermal", "has no sensors"},
    {"Fan", "has no fans"},
    {"Power", "has no power draw"},
    {"Energy", "has no power draw"},
    {"Clock", "has no clocks of its own"},
    {"PerformanceState", "has no clocks of its own"},
    {"Ecc", "has no memory of its own that could err"},
    {"Pcie", "has no counters of a PCI Express link"},
    {"Vgpu", "has no virtual GPUs"},
    {"", "cannot do this"},
};

Return refuse(const char* name) {
  const auto* row = std::ranges::find_if(absent, [&](const Absent& each) {
    return std::string_view(name).find(each.part) != std::string_view::npos;
  });
  if (!row->what.empty())
    cuda::report_once("NVML",
                      fmt::format("{} returns NVML_ERROR_NOT_SUPPORTED: a software GPU {}. "
                                  "Other unsupported NVML calls return the same without a message.",
                                  name, row->what));
  return Return::not_supported;
}

int refused(const char* name) {
  return answer(name, [&] { return refuse(name); });
}

}  // namespace
}  // namespace inflight::management

// Weak, so that a definition elsewhere in the library replaces it.
#define INFLIGHT_NVML_REFUSED(name)                                    \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    return inflight::management::refused(#name);                       \
  }
#include "nvml_names.def"
