// Results of calls, and reports of what is not supported.
#include "gpu/fft/call.hpp"

#include <fmt/format.h>

#include "gpu/cuda/core/base/guard.hpp"

namespace inflight::fft {

Result result_of(cuda::Status status) {
  switch (status) {
    case cuda::Status::success:
      return Result::success;
    case cuda::Status::invalid_value:
    case cuda::Status::invalid_handle:
      return Result::invalid_value;
    case cuda::Status::out_of_memory:
      return Result::alloc_failed;
    case cuda::Status::not_supported:
      return Result::not_supported;
    default:
      return Result::exec_failed;
  }
}

Result of_exception(const char* name) { return result_of(cuda::status_of_exception(name)); }

Result refuse(const char* name, std::string_view what) {
  cuda::report_once(
      fmt::format("{} {}", name, what),
      fmt::format("{} is not supported by the software GPU and returns CUFFT_NOT_IMPLEMENTED: {}.",
                  name, what));
  return Result::not_implemented;
}

}  // namespace inflight::fft
