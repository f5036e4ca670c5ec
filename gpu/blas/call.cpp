// Submits a call's work to its stream and reports unsupported forms.
#include "gpu/blas/call.hpp"

#include <fmt/format.h>

#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/work/work.hpp"

namespace inflight::blas {
namespace {

Status of(cuda::Status status) {
  switch (status) {
    case cuda::Status::success:
      return Status::success;
    case cuda::Status::invalid_value:
    case cuda::Status::invalid_handle:
      return Status::invalid_value;
    case cuda::Status::out_of_memory:
      return Status::alloc_failed;
    case cuda::Status::not_supported:
      return Status::not_supported;
    default:
      return Status::execution_failed;
  }
}

}  // namespace

Status of_exception(const char* name) { return of(cuda::status_of_exception(name)); }

int call_guarded(const char* name, BodyOf<> body) {
  try {
    return logged(name, body());
  } catch (...) {
    return logged(name, of_exception(name));
  }
}

std::vector<Region> triangle_of(const void* a, std::size_t element, bool written, Size n,
                                Size leading, Fill fill) {
  const Region all{a, whole(n) * element, whole(n), whole(leading) * element, written};
  if (!all.span().within(cuda::most_region_bytes)) return {all};
  std::vector<Region> regions;
  for (Size column = 0; column < n; ++column) {
    const Size first = fill == Fill::upper ? 0 : column,
               count = fill == Fill::upper ? column + 1 : n - column;
    const auto begin = std::size_t(column * leading + first) * element;
    regions.push_back({static_cast<const char*>(a) + begin, whole(count) * element, 1, 0, written});
  }
  return regions;
}

Status Call::submit(std::function<void(const Touch&)> body) const {
  const auto stream = cuda::live_stream(stream_, false);
  if (!stream) return of(stream.error().status);
  return of(cuda::submit(**stream, cuda::LibraryWork{name_, std::move(body)}));
}

Status Call::await(std::function<void(const Touch&)> body) const {
  const auto stream = cuda::live_stream(stream_, false);
  if (!stream) return of(stream.error().status);
  if (cuda::capturing(**stream))
    return refuse("results on the host while its stream captures (CUBLAS_POINTER_MODE_HOST)");
  const Status status = of(cuda::submit(**stream, cuda::LibraryWork{name_, std::move(body)}));
  return status == Status::success ? of(cuda::synchronize(**stream)) : status;
}

Status refuse_form(const char* name, std::string_view what) {
  cuda::report_once(
      fmt::format("{} {}", name, what),
      fmt::format("{} does not support {} here and returns CUBLAS_STATUS_NOT_SUPPORTED.", name,
                  what));
  return Status::not_supported;
}

}  // namespace inflight::blas
