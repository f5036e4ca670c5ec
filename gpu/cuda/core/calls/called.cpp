// Turns failed calls into events for the checker, and into lines of the log.
#include "gpu/cuda/core/calls/called.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/check/names.hpp"
#include "gpu/cuda/core/queue/context.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/report/call_log.hpp"
#include "gpu/cuda/core/report/failed_work.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/watch/host_caller.hpp"

namespace inflight::cuda {
namespace {

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

// The error that ended the current context.
Status fault_now() {
  const Context* const context = current_context();
  return context && context->device ? context->device->fault() : Status::success;
}

void tell(const Call& call, int code) {
  using What = check::CallFailed::What;
  const bool heard = observes(check::Topic::faults);
  CallFacts::Facts& facts = CallFacts::of_outermost();
  const std::string_view name = written_name(call.name);
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

}  // namespace

void report_failed_call(const Call& call, Status status, int code) {
  if (!call.is_outermost() || status == Status::not_ready) return;
  guarded("the report of a failed call", [&] {
    if (wants_failures() && !Core::ending() && Core::existing() && status != fault_now())
      tell(call, code);
    return Status::success;
  });
}

}  // namespace inflight::cuda
