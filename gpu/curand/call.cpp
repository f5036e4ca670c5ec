// Results of calls, and reports of what is not supported.
#include "gpu/curand/call.hpp"

#include <fmt/format.h>

#include "gpu/cuda/core/base/guard.hpp"

namespace inflight::curand {

Result result_of(cuda::Status status) {
  switch (status) {
    case cuda::Status::success:
      return Result::success;
    case cuda::Status::out_of_memory:
      return Result::allocation_failed;
    default:
      return Result::launch_failure;
  }
}

Result of_exception(const char* name) { return result_of(cuda::status_of_exception(name)); }

Result refuse(const char* name, std::string_view what) {
  cuda::report_once(fmt::format("{} {}", name, what),
                    fmt::format("{} is not supported by the software GPU and returns "
                                "CURAND_STATUS_ARCH_MISMATCH: {}.",
                                name, what));
  return Result::arch_mismatch;
}

}  // namespace inflight::curand
