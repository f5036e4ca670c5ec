// What each thread has been refused since it last read its error, and what nothing will read.
#include "gpu/cuda/core/report/refusals.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/host/of_this_thread.hpp"

namespace inflight::cuda {
namespace {

using Counts = std::map<std::string, std::uint64_t>;  // of each sentence

struct Unread {
  std::mutex mutex;
  Counts counts;
  static Unread& get() {
    static auto& instance = *new Unread;
    return instance;
  }
};

struct OfThread {
  std::string refusal;  // of the present statement
  Counts unread;
};
OfThread& of_thread() { return host::of_this_thread<OfThread>(); }

thread_local bool in_statement = false;
thread_local bool refused = false;  // in the present statement
thread_local bool has_unread = false;

}  // namespace

void begin_launch_statement() {
  in_statement = true;
  refused = false;
}

void note_refusal(std::string_view sentence) {
  Call::because(sentence);
  if (!in_statement || observes(check::Topic::faults)) return;
  of_thread().refusal = sentence;
  refused = true;
}

void end_launch_statement() {
  in_statement = false;
  if (!std::exchange(refused, false)) return;
  guarded("the report of a refused launch", [] {
    OfThread& mine = of_thread();
    const std::lock_guard lock(Unread::get().mutex);
    std::uint64_t& count = Unread::get().counts[mine.refusal];
    ++mine.unread[mine.refusal];
    ++count;
    has_unread = true;
    return Status::success;
  });
}

void forget_refusals() {
  if (!std::exchange(has_unread, false)) return;
  const std::lock_guard lock(Unread::get().mutex);
  for (const auto& [sentence, count] : std::exchange(of_thread().unread, {}))
    Unread::get().counts[sentence] -= count;
}

void report_refusals() {
  const std::lock_guard lock(Unread::get().mutex);
  for (const auto& [sentence, count] : std::exchange(Unread::get().counts, {})) {
    if (count == 0) continue;
    const std::string times = count == 1 ? "" : fmt::format(" ({} times)", count);
    report(
        fmt::format("{}{}. Nothing in the program has read this error. cudaGetLastError() "
                    "returns it.",
                    sentence, times));
  }
}

}  // namespace inflight::cuda
