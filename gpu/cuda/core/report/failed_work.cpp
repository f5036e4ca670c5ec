// Tells the log and the listener of failed work.
#include "gpu/cuda/core/report/failed_work.hpp"

#include <fmt/format.h>

#include "gpu/cuda/core/report/call_log.hpp"
#include "gpu/cuda/core/report/checking.hpp"
#include "gpu/cuda/core/report/observer.hpp"

namespace inflight::cuda {

std::string text_of(std::string_view call, int code) {
  const bool runtime = call.starts_with("cuda");
  const std::string_view name = runtime ? runtime_error_name(code) : driver_error_name(code);
  const std::string_view text = runtime ? runtime_error_text(code) : driver_error_text(code);
  return fmt::format("{} ({}, {})", text, name, code);
}

bool report_failed_work(Status status, std::string_view text, const FailedKernel& kernel) {
  if (text.empty()) return false;
  log_call(fmt::format("{} failed: {}: {}", kernel.name.empty() ? "work of a stream" : "a kernel",
                       text_of("cuda", int(status)), text));
  if (!observes(check::Topic::faults)) return false;
  check::CallFailed event;
  event.what = check::CallFailed::What::work;
  event.call = kernel.name.empty() ? std::string_view() : "launch";
  event.kernel = kernel.name;
  event.sentence = text;
  event.code = int(status);
  event.launch = kernel.launch;
  event.deadlock = kernel.deadlock;
  observer()->call_failed(event);
  return checker() && (kernel.launch == 0 || checking_explains(kernel.launch));
}

}  // namespace inflight::cuda
