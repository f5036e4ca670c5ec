// Findings go to standard error as they are found; the status is changed as the process ends.
#include "gpu/cuda/core/report/checking.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gpu/check/detect/checker.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/cuda/core/core.hpp"
#include "gpu/cuda/core/report/status.hpp"
#include "gpu/cuda/core/settings.hpp"

namespace inflight::cuda {
namespace {

constexpr int found_something = 86;
std::atomic<bool> concluded{false};

void print(const check::Finding& finding) {
  const std::string text = "inflight: " + check::to_text(finding);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

check::Checker* instance() {
  static check::Checker* const made = settings().check ? new check::Checker({}, print) : nullptr;
  return made;
}

// Runs after the program's own functions for its end. What other libraries do behind this one is
// left out: only so can a process change its status.
__attribute__((destructor)) void end_with_status() {
  if (!concluded || Core::forked() || instance()->findings().count() == 0) return;
  std::fflush(nullptr);
  _exit(found_something);
}

void write_report(const std::vector<check::Finding>& findings) {
  const std::string& path = settings().report;
  std::ofstream file(path);
  file << check::to_json(findings).dump(2) << '\n';
  if (!file) report("the findings could not be written to '" + path + "'.");
}

}  // namespace

check::Listener* checker() { return instance(); }

bool checking_explains(std::uint64_t launch) {
  return instance() && instance()->findings().explains(launch);
}

void conclude_checking() {
  if (!instance() || concluded.exchange(true)) return;
  std::uint64_t times = 0;
  const auto all = instance()->findings().all();
  for (const check::Finding& each : all) times += each.count;
  if (!settings().report.empty()) write_report(all);
  report(all.empty() ? std::string("nothing found.")
                     : fmt::format("{} finding{}, seen {} time{}.", all.size(),
                                   all.size() == 1 ? "" : "s", times, times == 1 ? "" : "s"));
}

}  // namespace inflight::cuda
