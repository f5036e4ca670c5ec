// Reports work that ended by an error.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// A kernel that ended by an error.
struct FailedKernel {
  std::string_view name;     // in the PTX; empty: other work of a stream
  std::uint64_t launch = 0;  // its number, once it has begun
  bool deadlock = false;
};
// A kernel, or other work of a stream, ended by an error. `text`: why. Returns whether a finding
// tells of it.
bool report_failed_work(Status status, std::string_view text, const FailedKernel& kernel);

// "invalid argument (cudaErrorInvalidValue, 1)", as the API of `call` has it.
std::string text_of(std::string_view call, int code);

}  // namespace inflight::cuda
