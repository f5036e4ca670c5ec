// Chooses the listener, and writes statistics.
#include "gpu/cuda/core/report/observer.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "gpu/check/report/json.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/report/checking.hpp"
#include "gpu/host/output_file.hpp"
#include "gpu/trace/stats.hpp"

namespace inflight::cuda {

namespace {

std::atomic<check::Listener*> chosen{nullptr};
std::atomic<check::Topic> chosen_topics{check::Topic::none};

trace::Stats* stats() {
  const Settings& chosen = settings();
  const bool fidelity = chosen.fidelity || !chosen.stats_file.empty();
  static trace::Stats* instance =
      chosen.stats || chosen.fidelity ? new trace::Stats(fidelity) : nullptr;
  return instance;
}

// All that the settings request, as one listener. Null: nothing.
check::Listener* of_settings() {
  static check::Listener* const one = []() -> check::Listener* {
    if (!stats() || !checker()) return stats() ? stats() : checker();
    auto* both = new check::Listeners;
    both->add(*stats());
    both->add(*checker());
    return both;
  }();
  return one;
}

void write_json(const std::string& path) {
  const auto wrote = host::replace_file(path, check::dump(stats()->json(), 2) + "\n");
  if (wrote) return;
  report("the statistics could not be written to '" + path + "': " + wrote.error() + ".");
  fail_at_end();
}

}  // namespace

check::Listener* observer() {
  check::Listener* const other = chosen.load(std::memory_order_acquire);
  return other ? other : of_settings();
}

check::Topic observed_topics() {
  if (chosen.load(std::memory_order_acquire)) return chosen_topics.load(std::memory_order_relaxed);
  static const check::Topic topics = of_settings() ? of_settings()->topics() : check::Topic::none;
  return topics;
}

void observe_with(check::Listener* listener) {
  if (listener) chosen_topics.store(listener->topics(), std::memory_order_relaxed);
  chosen.store(listener, std::memory_order_release);
}

void report_observed() {
  if (!stats()) return;
  static std::mutex mutex;
  static std::uint64_t reported = ~std::uint64_t{0};  // launches
  const std::lock_guard lock(mutex);
  std::uint64_t launches = 0;
  for (const auto& kernel : stats()->kernels()) launches += kernel.tally.launches;
  if (launches == std::exchange(reported, launches)) return;
  const Settings& chosen = settings();
  if (!chosen.stats_file.empty()) write_json(chosen.stats_file);
  std::string text = chosen.stats && chosen.stats_file.empty() ? stats()->text() : "";
  if (chosen.fidelity) text += stats()->fidelity_text();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace inflight::cuda
