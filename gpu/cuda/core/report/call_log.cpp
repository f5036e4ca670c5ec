// Appends whole lines, so that several processes may share the file.
#include "gpu/cuda/core/report/call_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "gpu/check/printable.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {
namespace {

// The lines of a sentence as one line.
std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (part.empty()) continue;
    if (!line.empty()) line += "; ";
    line += part;
  }
  return check::printable(line);
}

std::string path_of(std::string path) {
  for (auto at = path.find("%p"); at != path.npos; at = path.find("%p", at))
    path.replace(at, 2, std::to_string(getpid()));
  return path;
}

}  // namespace

bool logs_calls() { return !settings().log.empty(); }

// The program may close descriptors that it does not know, so the file is opened for each line.
void log_call(std::string_view sentence) {
  if (!logs_calls()) return;
  const std::string line = fmt::format("[{}] {}\n", getpid(), one_line(sentence));
  const std::string path = path_of(settings().log);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool kept = fd >= 0 && write(fd, line.data(), line.size()) == ssize_t(line.size());
  const int reason = errno;
  if (fd >= 0) close(fd);
  if (!kept)
    report_once("the log",
                fmt::format("the log '{}' cannot be written: {}.", path, std::strerror(reason)));
}

}  // namespace inflight::cuda
