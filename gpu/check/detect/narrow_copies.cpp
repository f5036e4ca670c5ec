// Detects cp.async of 4 or 8 bytes where 16 bytes are possible (--advice).
#include <fmt/format.h>

#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "gpu/check/detect/detector.hpp"

namespace inflight::check {
namespace {

constexpr std::uint32_t widest = 16;

class NarrowCopies : public Listener {
 public:
  explicit NarrowCopies(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::copies; }

  void copy_issued(const CopyIssued& copy) override {
    if (copy.completion != Completion::thread_group || copy.bytes >= widest) return;
    const Key key{copy.who.launch, copy.who.instruction};
    const bool wide = could_be_wide(copy);
    const std::lock_guard lock(mutex_);
    // An instruction qualifies only if each of its executions could be wide.
    if (!wide) {
      wide_.erase(key);
      narrow_.insert(key);
    } else if (!narrow_.contains(key)) {
      wide_.try_emplace(key, copy.who, copy.bytes);
    }
  }

  void kernel_end(const KernelEnd& event) override {
    const std::uint64_t launch = event.kernel->launch;
    const std::lock_guard lock(mutex_);
    const auto begin = wide_.lower_bound({launch, 0}), end = wide_.lower_bound({launch + 1, 0});
    for (auto each = begin; each != end; ++each) report(each->second.first, each->second.second);
    wide_.erase(begin, end);
    narrow_.erase(narrow_.lower_bound({launch, 0}), narrow_.lower_bound({launch + 1, 0}));
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint32_t>;

  // Whether the lanes that copy form groups that fill 16 aligned bytes at source and destination.
  static bool could_be_wide(const CopyIssued& copy) {
    std::array<CopyRun, lanes> runs{};
    Mask whole = 0;
    copy.for_each_run([&](const CopyRun& run) {
      runs[run.lane] = run;
      if (run.source_bytes == run.bytes) whole |= Mask{1} << run.lane;
    });
    const std::uint32_t group = widest / copy.bytes;
    if (whole != copy.who.mask || whole == 0) return false;
    for (std::uint32_t first = 0; first < lanes; first += group) {
      const Mask mine = ((Mask{1} << group) - 1) << first;
      if (!(whole & mine)) continue;
      if ((whole & mine) != mine) return false;
      if (runs[first].destination % widest || runs[first].source % widest) return false;
      for (std::uint32_t i = 1; i < group; ++i)
        if (runs[first + i].destination != runs[first].destination + i * copy.bytes ||
            runs[first + i].source != runs[first].source + i * copy.bytes)
          return false;
    }
    return true;
  }

  void report(const Who& who, std::uint32_t bytes) {
    session_.findings.add({FindingKind::narrow_copy, session_.places.of(who)}, [&] {
      Finding finding;
      finding.kind = FindingKind::narrow_copy;
      finding.sentence = fmt::format(
          "neighbouring lanes copy {} bytes each, together 16 contiguous bytes, aligned to 16 at "
          "source and destination",
          bytes);
      finding.here = session_.places.party(who, fmt::format("copies {} bytes per lane", bytes));
      finding.remedy = fmt::format(
          "let {} of the lanes copy 16 bytes each: cp.async.cg.shared.global with 16 bytes, which "
          "bypasses the L1 cache",
          bytes == 4 ? "a quarter" : "half");
      finding.rule = "PTX ISA, cp.async: cp-size is 4, 8 or 16; .cg only 16";
      return finding;
    });
  }

  Session session_;
  std::mutex mutex_;
  std::map<Key, std::pair<Who, std::uint32_t>> wide_;
  std::set<Key> narrow_;
};

}  // namespace

std::unique_ptr<Listener> make_narrow_copies(const Session& session, const CheckOptions& options) {
  if (!options.advice) return nullptr;
  return std::make_unique<NarrowCopies>(session);
}

}  // namespace inflight::check
