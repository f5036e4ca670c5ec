// Turns failed calls into events for the checker, and into lines of the log.
#include "gpu/cuda/core/report/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/check/names.hpp"
#include "gpu/cuda/core/context.hpp"
#include "gpu/cuda/core/core.hpp"
#include "gpu/cuda/core/report/call_log.hpp"
#include "gpu/cuda/core/report/checking.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/watch/host_caller.hpp"

namespace inflight::cuda {
namespace {

thread_local Call* outermost = nullptr;

bool of_runtime(std::string_view call) { return call.starts_with("cuda"); }

// The name that programs write: the toolkit's headers turn it into others.
std::string_view written_name(std::string_view call) {
  if (call.starts_with("__cuda")) call.remove_prefix(2);
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (call.ends_with(suffix)) call.remove_suffix(suffix.size());
  return call;
}

// A call that launches kernels, by its name in either API.
bool is_launch(std::string_view call) {
  for (const std::string_view prefix : {"cuda", "cu"})
    if (call.starts_with(prefix)) {
      call.remove_prefix(prefix.size());
      break;
    }
  return call == "Launch" || call.starts_with("LaunchKernel") || call.starts_with("LaunchGrid") ||
         call.starts_with("LaunchCooperative") || call.starts_with("GraphLaunch");
}

// "invalid argument (cudaErrorInvalidValue, 1)"
std::string text_of(std::string_view call, int code) {
  const bool runtime = of_runtime(call);
  const std::string_view name = runtime ? runtime_error_name(code) : driver_error_name(code);
  const std::string_view text = runtime ? runtime_error_text(code) : driver_error_text(code);
  return fmt::format("{} ({}, {})", text, name, code);
}

// True if anyone is told of failed calls.
bool wanted() { return observes(check::Topic::faults) || logs_calls(); }

// The error that ended the current context.
Status fault_now() {
  const Context* const context = current_context();
  return context && context->device ? context->device->fault() : Status::success;
}

}  // namespace

Call::Call(const char* name) : name_(name), outermost_(outermost == nullptr) {
  if (outermost_) outermost = this;
}

Call::~Call() {
  if (!outermost_) return;
  outermost = nullptr;
  if (!facts_) return;
  guarded("the report of a call", [&] {
    for (const std::string& each : facts_->held) report(each);
    return Status::success;
  });
  delete facts_;
}

bool Call::is_inside() { return outermost != nullptr; }

void Call::because(std::string_view sentence) {
  if (outermost && outermost->facts().reason.empty()) outermost->facts().reason = sentence;
}

void Call::with(std::string_view arguments) {
  if (outermost) outermost->facts().arguments = arguments;
}

void Call::is_about(std::string_view kernel) {
  if (outermost && wanted()) outermost->facts().kernel = kernel;
}

void Call::refuses_input() {
  if (outermost) outermost->facts().input = true;
}

void Call::hold() {
  if (outermost && observes(check::Topic::faults)) outermost->facts().holds = true;
}

bool Call::keep(std::string_view sentence) {
  if (!outermost) return false;
  because(sentence);
  if (!outermost->facts_->holds) return false;
  outermost->facts_->held.emplace_back(sentence);
  return true;
}

void Call::returns(Status status, int code) {
  if (!outermost_ || status == Status::not_ready) return;
  guarded("the report of a failed call", [&] {
    if (wanted() && !Core::ending() && Core::existing() && status != fault_now())
      fail(status, code);
    return Status::success;
  });
}

void Call::fail(Status, int code) {
  using What = check::CallFailed::What;
  const bool heard = observes(check::Topic::faults);
  Facts& facts = this->facts();
  const std::string_view name = written_name(name_);
  const bool launch = is_launch(name);
  const std::string error = text_of(name, code);
  std::string line = std::string(name);
  if (!facts.kernel.empty()) line += fmt::format(" of kernel {}", check::readable(facts.kernel));
  if (!facts.arguments.empty()) line += fmt::format(" ({})", facts.arguments);
  line += fmt::format(" failed: {}", error);
  if (!facts.reason.empty()) line += ": " + facts.reason;
  log_call(line);
  if (!heard) return;
  std::string sentence = facts.reason;
  for (std::size_t i = 1; i < facts.held.size(); ++i) sentence += "\n" + facts.held[i];
  for (const std::string& each : std::exchange(facts.held, {})) write_log(each);
  if (sentence.empty())
    sentence = !launch ? fmt::format("{} failed", name)
               : facts.kernel.empty()
                   ? "a launch failed"
                   : fmt::format("kernel {} was not launched", check::readable(facts.kernel));
  const std::size_t end = std::min(sentence.find('\n'), sentence.size());
  std::size_t stop = end;
  while (stop > 0 && (sentence[stop - 1] == '.' || sentence[stop - 1] == ' ')) --stop;
  sentence.replace(stop, end - stop, fmt::format(": {}", error));
  if (!facts.arguments.empty()) sentence += "\n" + facts.arguments;
  const std::string caller = watch::host_caller(facts.kernel);
  check::CallFailed event;
  event.what = launch ? What::launch : facts.input ? What::input : What::call;
  event.call = name;
  event.caller = caller;
  event.kernel = facts.kernel;
  event.sentence = sentence;
  event.code = code;
  observer()->call_failed(event);
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
