// Names and texts of status codes, and the library's version.
#include "gpu/blas/status_names.hpp"

#include <algorithm>
#include <iterator>

#include "gpu/blas/call.hpp"

namespace inflight::blas {
namespace {

struct Row {
  Status status;
  const char *name, *text;
};
constexpr Row rows[] = {
    {Status::success, "CUBLAS_STATUS_SUCCESS", "success"},
    {Status::not_initialized, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {Status::alloc_failed, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {Status::invalid_value, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {Status::arch_mismatch, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the current device"},
    {Status::mapping_error, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {Status::execution_failed, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the GPU program failed to execute"},
    {Status::internal_error, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {Status::not_supported, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the functionality requested is not supported"},
    {Status::license_error, "CUBLAS_STATUS_LICENSE_ERROR",
     "an error was detected when checking the current licensing"},
};
constexpr Row unknown{Status::internal_error, "CUBLAS_STATUS_UNKNOWN", "unknown status"};

const Row& row_of(int status) {
  const auto* const found =
      std::ranges::find_if(rows, [&](const Row& each) { return int(each.status) == status; });
  return found == std::end(rows) ? unknown : *found;
}

}  // namespace

const char* status_name(int status) { return row_of(status).name; }
const char* status_text(int status) { return row_of(status).text; }

int library_property(int which, int* value) {
  constexpr int parts = 3;
  if (!value || which < 0 || which >= parts) return int(Status::invalid_value);
  *value = which == 0 ? INFLIGHT_MAJOR : 0;
  return int(Status::success);
}

}  // namespace inflight::blas
