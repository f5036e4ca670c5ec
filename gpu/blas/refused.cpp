// The definition of every unsupported name: it reports that the call is not supported and returns
// CUBLAS_STATUS_NOT_SUPPORTED.
#include <fmt/format.h>

#include "gpu/blas/call.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::blas {
namespace {

int refused(const char* name) {
  return answer(name, [&] {
    inflight::cuda::report_once(
        name, fmt::format("{} is not supported by the software GPU and returns "
                          "CUBLAS_STATUS_NOT_SUPPORTED: use another call, or run this part on a "
                          "GPU.",
                          name));
    return Status::not_supported;
  });
}

}  // namespace
}  // namespace inflight::blas

// Weak, so that any other definition in the library replaces it.
#define INFLIGHT_BLAS_REFUSED(name)                                    \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    return inflight::blas::refused(#name);                             \
  }
#include INFLIGHT_BLAS_NAMES
