// The last error of each thread, and the names and texts of errors.
#include "gpu/cuda/core/report/refusals.hpp"
#include "gpu/cuda/runtime/entry.hpp"

namespace inflight::cuda {
namespace {
thread_local Status last_error = Status::success;
}

int record(Status status) {
  if (status != Status::success && status != Status::not_ready) last_error = status;
  return int(status);
}

Status callable() {
  if (Core::ending()) return Status::deinitialized;
  if (Core::forked()) return report_forked();
  if (Stream::on_worker()) return Status::not_permitted;
  initialise_driver();
  return Core::get().visible();
}

Status usable() {
  if (Status status = callable(); status != Status::success) return status;
  Context* context = current_context();
  if (!context) {
    context = &Core::get().primary(0);
    set_current_context(context);
    use_in_runtime(*context);
  } else if (context->primary && !context->active && !ScopedContext::active()) {
    use_in_runtime(*context);
  }
  return context->device->fault();
}

}  // namespace inflight::cuda

using namespace inflight::cuda;

INFLIGHT_API int cudaGetLastError() {
  initialise_driver();
  forget_refusals();
  return int(std::exchange(last_error, Status::success));
}

INFLIGHT_API int cudaPeekAtLastError() {
  initialise_driver();
  forget_refusals();
  return int(last_error);
}

INFLIGHT_API const char* cudaGetErrorName(int code) {
  initialise_driver();
  const std::string_view name = runtime_error_name(code);
  return name.empty() ? "unrecognized error code" : name.data();
}

INFLIGHT_API const char* cudaGetErrorString(int code) {
  initialise_driver();
  const std::string_view text = runtime_error_text(code);
  return text.empty() ? "unrecognized error code" : text.data();
}
