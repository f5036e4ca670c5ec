// Blocks done and the time left, rewritten in place five times a second.
#include "gpu/machine/launch/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "gpu/check/names.hpp"

namespace inflight::machine {

ProgressLine::ProgressLine(const Options& options) : enabled_(options.progress) {}

ProgressLine::~ProgressLine() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void ProgressLine::show(std::string_view kernel, std::chrono::nanoseconds elapsed,
                        std::uint64_t done, std::uint64_t total) {
  if (!enabled_ || elapsed < next_) return;
  // Asked here, because it is a system call, which short launches should not make.
  if (!shown_ && !isatty(STDERR_FILENO)) {
    enabled_ = false;
    return;
  }
  next_ = elapsed + std::chrono::milliseconds{200};
  shown_ = true;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  const double left =
      done ? seconds / static_cast<double>(done) * static_cast<double>(total - done) : 0;
  fmt::print(stderr, "\r\033[K{:.40}: {} of {} blocks, {:.0f} s", check::readable(kernel), done,
             total, seconds);
  if (done) fmt::print(stderr, ", about {:.0f} s left", left);
  std::fflush(stderr);
}

}  // namespace inflight::machine
