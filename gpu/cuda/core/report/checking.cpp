// Findings go to standard error as they are found, and to the spool if `inflight check` collects
// them. Without a spool, the process writes the report and changes its own exit status.
#include "gpu/cuda/core/report/checking.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "gpu/check/detect/checker.hpp"
#include "gpu/check/finding/alike.hpp"
#include "gpu/check/report/filter.hpp"
#include "gpu/check/report/report.hpp"
#include "gpu/check/report/spool.hpp"
#include "gpu/cuda/core/base/lifetime.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/report/python_memory.hpp"

namespace inflight::cuda {
namespace {

std::atomic<int> end_status{0};  // if not 0, the process's exit status
constexpr int failed = 1;        // what was found could not be kept or written

constexpr const char* not_kept =
    "what this process finds cannot be kept for 'inflight check' and is shown only here: its "
    "temporary files cannot be written. Free space in TMPDIR and /dev/shm, or set TMPDIR to a "
    "folder with room where every process may write.";

bool on_terminal() {
  const char* const no = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) && !(no && *no) && terminal && std::string_view(terminal) != "dumb";
}

check::Filter read_filter(const CheckSettings& chosen) {
  auto filter = check::Filter::read(chosen.suppressions, chosen.baseline);
  if (!filter) {
    report(filter.error() + ".");
    std::_Exit(2);
  }
  return std::move(*filter);
}

// Adds the program's name for the bytes, if PTX has none.
void name_memory(check::Bytes& bytes) {
  if (bytes.space != check::Space::global || !bytes.variable.empty()) return;
  if (auto of = python_memory_at(bytes.address))
    bytes.variable = std::move(of->name), bytes.offset = of->offset;
}

// Keeps the spool's count of launches.
class CountedChecker : public check::Checker {
 public:
  CountedChecker(check::Spool* spool, const check::CheckOptions& options,
                 check::Findings::OnNew on_new, const std::vector<std::string>& source_folders)
      : Checker(options, std::move(on_new), name_memory, source_folders), spool_(spool) {}
  void kernel_begin(const check::KernelBegin& event) override {
    Checker::kernel_begin(event);
    count();
  }
  void kernel_end(const check::KernelEnd& event) override {
    Checker::kernel_end(event);
    ended_.fetch_add(1, std::memory_order_relaxed);
    count();
  }

 private:
  void count() {
    if (spool_) spool_->count(launches(), ended_.load(std::memory_order_relaxed));
  }
  check::Spool* const spool_;
  std::atomic<std::uint64_t> ended_{0};
};

class Checking {
 public:
  explicit Checking(const CheckSettings& chosen)
      : chosen_(chosen),
        source_folders_(check::paths_in(chosen.source_root)),
        whole_filter_(read_filter(chosen)),
        filter_(whole_filter_),
        spool_(chosen.spool.empty() ? nullptr : new check::Spool(check::paths_in(chosen.spool))),
        checker_(
            spool_.get(), {chosen.leaks, chosen.advice, chosen.api_errors},
            [this](const check::Finding& finding) { found(finding); }, source_folders_) {
    style_.colours = on_terminal();
    if (spool_ && !spool_->open()) report_once(not_kept, not_kept);
  }

  check::Checker& checker() { return checker_; }

  // The last step, once nothing more can be found.
  void conclude(const check::LeftUndone& left) {
    checker_.process_ended({});
    const auto all = checker_.findings().all();
    if (spool_ && spool_->conclude(checker_.launches(), all, left)) return;
    if (spool_) report_once(not_kept, not_kept), fail_at_end();
    std::vector<check::Finding> reported;
    for (const check::Finding& each : all)
      if (whole_filter_.judge(each) == check::Filter::Verdict::report) reported.push_back(each);
    reported = check::merged(std::move(reported));
    const std::size_t hidden = settings().strict ? 0 : check::take_warnings(reported);
    check::Unchecked unchecked;
    if (left.any()) unchecked.push_back(check::to_text(left));
    report(check::summary(reported, check::ran(unchecked)));
    if (hidden) report(check::hidden(hidden));
    for (const std::string& each : unchecked) report(each);
    for (std::string& each : check::unchecked_by_failures(all))
      unchecked.push_back(std::move(each));
    for (const std::string& path : chosen_.reports)
      if (const auto wrote = check::write_report(path, reported, source_folders_, unchecked);
          !wrote)
        report(wrote.error() + "."), fail_at_end();
    if (check::mistakes(reported, settings().strict) && chosen_.error_exitcode)
      end_status = chosen_.error_exitcode;
  }

 private:
  // Called for one finding at a time.
  void found(const check::Finding& finding) {
    if (spool_ && !spool_->add(finding)) report_once(not_kept, not_kept);
    if (filter_.judge(finding) != check::Filter::Verdict::report) return;
    if (check::only_if_strict(finding.kind) && !settings().strict) return;
    std::string text =
        "inflight: " + (alike_.seen_before(finding) ? check::short_text(finding, style_)
                                                    : check::to_text(finding, style_));
    if (chosen_.gen_suppressions) text += check::suppression_for(finding);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }

  const CheckSettings& chosen_;
  const std::vector<std::string> source_folders_;
  check::Filter whole_filter_;  // for the report at the end, which judges all findings again
  check::Filter filter_;
  check::TextStyle style_;
  check::Alike alike_;
  std::unique_ptr<check::Spool> spool_;
  CountedChecker checker_;
};

Checking* instance() {
  static Checking* const made = settings().check.on ? new Checking(settings().check) : nullptr;
  return made;
}

// Runs after the program's own exit functions. It skips those of libraries that come later, because
// a process can change its exit status only by ending here.
__attribute__((destructor)) void end_with_status() {
  const int status = end_status;
  if (status == 0 || process_forked()) return;
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

check::Listener* checker() { return instance() ? &instance()->checker() : nullptr; }

bool checking_explains(std::uint64_t launch) {
  return instance() && instance()->checker().findings().explains(launch);
}

void fail_at_end() {
  int none = 0;
  end_status.compare_exchange_strong(none, failed);
}

void conclude_checking(const check::LeftUndone& left) {
  static std::atomic<bool> concluded{false};
  if (instance() && !concluded.exchange(true)) instance()->conclude(left);
}

}  // namespace inflight::cuda
