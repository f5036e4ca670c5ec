// The last error of each thread and copy of the runtime, and the names and texts of errors.
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "gpu/cuda/core/report/refusals.hpp"
#include "gpu/cuda/runtime/entry.hpp"
#include "gpu/host/of_this_thread.hpp"

namespace inflight::cuda {
namespace {

thread_local Status of_shared = Status::success;
// Written by the loader's code, before it calls a function for a static copy.
[[gnu::tls_model("initial-exec")]] thread_local RuntimeCopy copy_called = 0;

// Of the static copies that have one.
struct LastErrors {
  std::unordered_map<RuntimeCopy, Status> of;
};

Status last_error(RuntimeCopy copy) {
  if (copy == 0) return of_shared;
  const auto& errors = host::of_this_thread<LastErrors>().of;
  const auto found = errors.find(copy);
  return found == errors.end() ? Status::success : found->second;
}

void forget_last_error(RuntimeCopy copy) {
  if (copy == 0)
    of_shared = Status::success;
  else
    host::of_this_thread<LastErrors>().of.erase(copy);
}

// Whether a function neither sets nor gives the last error, and so never asks for the copy.
bool has_no_error(std::string_view function) {
  for (const std::string_view beginning :
       {"__cudaRegister", "__cudaUnregister", "__cudaInitModule", "__cudaPopCallConfiguration",
        "cudaGetErrorName", "cudaGetErrorString", "cudaCreateChannelDesc"})
    if (function.starts_with(beginning)) return true;
  return false;
}

}  // namespace

RuntimeCopy called_copy() { return std::exchange(copy_called, 0); }

int record(Status status, RuntimeCopy copy) {
  if (status == Status::success || status == Status::not_ready) return int(status);
  if (copy == 0)
    of_shared = status;
  else
    host::of_this_thread<LastErrors>().of[copy] = status;
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

// The distance of copy_called from the thread pointer, for a function that asks for it; else 0.
extern "C" __attribute__((visibility("default"))) std::int64_t inflight_runtime_mark(
    const char* function) {
  if (has_no_error(function)) return 0;
  return reinterpret_cast<char*>(&copy_called) - static_cast<char*>(__builtin_thread_pointer());
}

INFLIGHT_API int cudaGetLastError() {
  const RuntimeCopy copy = called_copy();
  initialise_driver();
  forget_refusals();
  const Status last = last_error(copy);
  forget_last_error(copy);
  return int(last);
}

INFLIGHT_API int cudaPeekAtLastError() {
  const RuntimeCopy copy = called_copy();
  initialise_driver();
  forget_refusals();
  return int(last_error(copy));
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
