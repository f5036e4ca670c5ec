// The calls that set and get a plan's settings.
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/fft/plan.hpp"

using namespace inflight::fft;

INFLIGHT_CUFFT int cufftSetStream(Handle plan, void* stream) {
  return answer("cufftSetStream", plan, [&](Plan& p) {
    if (!inflight::cuda::stream_of(stream)) return Result::invalid_value;
    p.stream = stream;
    return Result::success;
  });
}

// The work area is not used, but a transform counts as writing it.
INFLIGHT_CUFFT int cufftSetWorkArea(Handle plan, void* area) {
  return answer("cufftSetWorkArea", plan, [&](Plan& p) {
    p.work_area = area;
    return Result::success;
  });
}
INFLIGHT_CUFFT int cufftSetAutoAllocation(Handle plan, int allocates) {
  return answer("cufftSetAutoAllocation", plan, [&](Plan& p) {
    p.allocates = allocates != 0;
    return Result::success;
  });
}
INFLIGHT_CUFFT int cufftGetSize(Handle plan, std::size_t* work_bytes) {
  return answer("cufftGetSize", plan, [&](Plan& p) {
    return p.made ? store(work_bytes, p.work_bytes) : Result::invalid_plan;
  });
}
// The policies change only the size that a GPU would need.
INFLIGHT_CUFFT int cufftXtSetWorkAreaPolicy(Handle plan, int policy, std::size_t*) {
  constexpr int last = 2;
  return answer("cufftXtSetWorkAreaPolicy", plan, [&](Plan&) {
    return policy < 0 || policy > last ? Result::invalid_plan : Result::success;
  });
}

// The result for a property that cannot be set or got, as on an H100.
namespace {
Result check_property(int property) {
  if (property == int(Property::most_host_threads)) return Result::not_supported;
  return property == int(Property::patient_jit) ? Result::success : Result::invalid_value;
}
Result set_patience(Plan& plan, int property, Wide value) {
  const Result result = check_property(property);
  if (result != Result::success) return result;
  if (plan.made) return Result::not_supported;
  plan.patient_jit = value;
  return Result::success;
}
}  // namespace
INFLIGHT_CUFFT int cufftSetPlanPropertyInt64(Handle plan, int property, Wide value) {
  return answer("cufftSetPlanPropertyInt64", plan,
                [&](Plan& p) { return set_patience(p, property, value); });
}
INFLIGHT_CUFFT int cufftGetPlanPropertyInt64(Handle plan, int property, Wide* value) {
  return answer("cufftGetPlanPropertyInt64", plan, [&](Plan& p) {
    const Result result = check_property(property);
    return result == Result::success ? store(value, Wide{p.patient_jit}) : result;
  });
}
INFLIGHT_CUFFT int cufftResetPlanProperty(Handle plan, int property) {
  return answer("cufftResetPlanProperty", plan,
                [&](Plan& p) { return set_patience(p, property, 0); });
}
