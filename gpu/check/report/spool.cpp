// A file is named PROCESS-RANDOM.NUMBER.findings; a process has several if a disk became full. Each
// line is JSON. The first, of constant size, is {"found": N, "begun": N, "ended": N}: the numbers
// of findings so far, in a file or not, and of launches. The others are findings with their number
// in the process, and at the end
// {"launches": N, "stopped": N, "dropped": N, "counts": [...]}.
#include "gpu/check/report/spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <system_error>

#include "gpu/check/printable.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/host/input_file.hpp"
#include "gpu/host/output_file.hpp"

namespace inflight::check {
namespace {

using nlohmann::json;
constexpr std::string_view ending = ".findings";
constexpr const char* number_name = "number";
constexpr std::uint64_t most_in_file = 1 << 30;

std::string random_name() {
  std::uint64_t digits[2] = {};
  if (getrandom(digits, sizeof digits, 0) != sizeof digits) return {};
  return fmt::format("{:016x}{:016x}", digits[0], digits[1]);
}

std::uint64_t number_of(const json& of, const char* name) {
  const auto found = of.find(name);
  return found != of.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string head_of(std::uint64_t found, std::uint64_t begun, std::uint64_t ended) {
  return fmt::format("{{\"found\":{:12},\"begun\":{:12},\"ended\":{:12}}}\n", found, begun, ended);
}

std::string line_of(const Finding& finding, std::uint64_t number) {
  json j = to_json(finding);
  j[number_name] = number;
  return dump(j) + '\n';
}

// What is in the files of one process.
struct Process {
  bool begun = false;  // some file has its first line
  bool finished = false;
  std::uint64_t launches = 0, found = 0, begun_launches = 0, ended_launches = 0;
  std::map<std::uint64_t, Finding> findings;  // by number
  std::vector<std::uint64_t> counts;
  LeftUndone left;
};

void read_line(const json& j, Process& process) {
  if (j.contains("found")) process.begun = true;
  process.found = std::max(process.found, number_of(j, "found"));
  process.begun_launches = std::max(process.begun_launches, number_of(j, "begun"));
  process.ended_launches = std::max(process.ended_launches, number_of(j, "ended"));
  if (auto finding = finding_of(j)) {
    process.findings.insert_or_assign(number_of(j, number_name), std::move(*finding));
  } else if (const auto counts = j.find("counts"); counts != j.end() && counts->is_array()) {
    process.finished = true;
    process.launches = number_of(j, "launches");
    process.left = {number_of(j, "stopped"), number_of(j, "dropped")};
    process.counts.clear();
    for (const json& each : *counts)
      process.counts.push_back(each.is_number_unsigned() ? each.get<std::uint64_t>() : 0);
    process.found = std::max<std::uint64_t>(process.found, process.counts.size());
  }
}

void read_process(const std::filesystem::path& path, std::map<std::string, Process>& all,
                  std::vector<std::string>& problems) {
  const std::string name = path.filename().string();
  Process& process = all[name.substr(0, name.find('.'))];
  // Whoever may write to the folder may put anything there.
  std::error_code error;
  const bool regular =
      std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::regular;
  const auto text = regular ? host::read_file(path.string(), most_in_file)
                            : tl::unexpected(std::string("is not a regular file"));
  if (!text) {
    problems.push_back("a process's findings are lost: '" + printable(path.string()) + "' " +
                       text.error());
    return;
  }
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const json j = json::parse(line, nullptr, false);
    if (!j.is_discarded() && j.is_object()) read_line(j, process);
  }
}

// Makes a folder with a random name in `place`, and another in it, whose name others cannot see but
// where those who know it may write. Both are empty, or `made` is the outer and the result the
// inner.
std::string make_folders(const std::string& place, std::string& made) {
  std::error_code error;
  std::string outer = std::filesystem::absolute(place, error).string() + "/inflight-XXXXXX";
  if (error || outer.find(':') != outer.npos) return errno = EINVAL, std::string();
  if (!mkdtemp(outer.data())) return {};
  const std::string inner = outer + "/" + random_name();
  if (chmod(outer.c_str(), 0711) == 0 && mkdir(inner.c_str(), 0700) == 0 &&
      chmod(inner.c_str(), 01733) == 0)
    return made = outer, inner;
  const int reason = errno;
  std::filesystem::remove_all(outer, error);
  errno = reason;
  return {};
}

// The disk that a folder is on. 0: none.
dev_t disk_of(const std::string& folder) {
  struct stat facts {};
  return stat(folder.c_str(), &facts) == 0 ? facts.st_dev : 0;
}

}  // namespace

Spool::Spool(std::vector<std::string> folders) : folders_(std::move(folders)) {
  begin_process();
  for (const std::string& each : folders_)
    if (begin_file(each, {})) break;
}

// Forgets the files of the process that this one was forked from, if any.
void Spool::begin_process() {
  if (process_ == getpid()) return;
  process_ = getpid();
  name_ = fmt::format("{}-{}", process_, random_name());
  paths_.clear();
  file_ = {};
  found_ = launches_ = ended_ = 0;
  all_kept_ = true;
  marked_ = false;
}

// Begins a file that becomes the current one. On failure no file is left, but for a process without
// any an empty one, which tells the reader of it: an empty file needs no room.
bool Spool::begin_file(const std::string& folder, const std::string& line) {
  const std::string path = fmt::format("{}/{}.{}{}", folder, name_, files_++, ending);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const std::string text = head_of(found_, launches_, ended_) + line;
  // The reader may be another user.
  if (host::write_all(fd, text, 0) != 0 || fchmod(fd, 0644) != 0) {
    const bool stays = !open() && !marked_ && ftruncate(fd, 0) == 0;
    close(fd);
    if (!stays) unlink(path.c_str());
    marked_ = marked_ || stays;
    return false;
  }
  file_ = host::OwnDescriptor::take(fd);
  paths_.push_back(path);
  end_ = static_cast<std::int64_t>(text.size());
  return true;
}

// The current file's descriptor, opened again if the program has closed it. -1: the file is gone.
int Spool::descriptor() {
  if (!open()) return -1;
  if (file_.fd() < 0)
    file_ =
        host::OwnDescriptor::take(::open(paths_.back().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return file_.fd();
}

bool Spool::write_head() {
  const int fd = descriptor();
  return fd >= 0 && host::write_all(fd, head_of(found_, launches_, ended_), 0) == 0;
}

// Adds a line to the current file, or nothing.
bool Spool::append(const std::string& line) {
  const int fd = descriptor();
  if (fd < 0 || !exists(paths_.back())) return false;
  if (host::write_all(fd, line, end_) == 0) {
    end_ += static_cast<std::int64_t>(line.size());
    return true;
  }
  // Should the part that was written remain, the reader skips it.
  [[maybe_unused]] const int cut = ftruncate(fd, end_);
  return false;
}

bool Spool::keep(const std::string& line) {
  if (append(line)) return true;
  return std::any_of(folders_.begin(), folders_.end(),
                     [&](const std::string& each) { return begin_file(each, line); });
}

void Spool::count(std::uint64_t launches, std::uint64_t ended) {
  const std::lock_guard lock(mutex_);
  if (process_ != getpid()) return;
  launches_ = std::max(launches_, launches), ended_ = std::max(ended_, ended);
  write_head();
}

bool Spool::add(const Finding& finding) {
  const std::lock_guard lock(mutex_);
  begin_process();
  const bool kept = keep(line_of(finding, found_++));
  all_kept_ = all_kept_ && kept;
  write_head();
  return kept;
}

bool Spool::conclude(std::uint64_t launches, const std::vector<Finding>& findings,
                     const LeftUndone& left) {
  const std::lock_guard lock(mutex_);
  if (!all_kept_ || !std::all_of(paths_.begin(), paths_.end(), exists)) {
    all_kept_ = true;
    for (std::size_t i = 0; i < findings.size(); ++i)
      all_kept_ = keep(line_of(findings[i], i)) && all_kept_;
  }
  json counts = json::array();
  for (const Finding& each : findings) counts.push_back(each.count);
  const json end = {{"launches", launches},
                    {"stopped", left.stopped},
                    {"dropped", left.dropped},
                    {"counts", std::move(counts)}};
  return keep(dump(end) + '\n') && all_kept_;
}

Spooled read_spool(const std::vector<std::string>& folders) {
  Spooled all;
  std::map<std::string, Process> processes;
  for (const std::string& folder : folders) {
    std::error_code error;
    std::filesystem::directory_iterator at(folder, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error))
      if (at->path().string().ends_with(ending)) read_process(at->path(), processes, all.problems);
    if (error)
      all.problems.push_back("findings may be lost: the folder '" + printable(folder) +
                             "' for them: " + error.message());
  }
  for (auto& [name, process] : processes) {
    if (!process.begun) {
      all.problems.push_back("what process " + printable(name.substr(0, name.find('-'))) +
                             " found could not be kept: there was no room for temporary files");
      continue;
    }
    ++all.processes;
    if (!process.finished)
      all.unfinished.push_back(
          {std::atoi(name.c_str()),
           process.begun_launches - std::min(process.begun_launches, process.ended_launches)});
    all.launches += process.finished ? process.launches : process.begun_launches;
    all.left += process.left;
    all.lost += process.found - std::min<std::uint64_t>(process.found, process.findings.size());
    for (auto& [number, finding] : process.findings) {
      if (number < process.counts.size()) finding.count = process.counts[number];
      all.findings.push_back(std::move(finding));
    }
  }
  return all;
}

SpoolFolders::SpoolFolders() {
  constexpr std::size_t most = 2;
  const char* const chosen = std::getenv("TMPDIR");
  const char* const own = std::getenv("XDG_RUNTIME_DIR");
  dev_t disk = 0;
  for (const char* place : {chosen, "/tmp", "/dev/shm", "/var/tmp", own, "."}) {
    if (!place || !*place || paths_.size() == most) continue;
    // A second folder on the same disk would be full at the same time.
    if (!paths_.empty() && disk_of(place) == disk) continue;
    std::string made;
    if (std::string inner = make_folders(place, made); !inner.empty()) {
      disk = disk_of(made);
      made_.push_back(std::move(made)), paths_.push_back(std::move(inner));
    } else {
      problem_ += fmt::format("{}'{}' ({})", problem_.empty() ? "" : ", ", printable(place),
                              std::strerror(errno));
    }
  }
  problem_ = paths_.empty() ? "a folder for the findings could not be made in " + problem_ +
                                  ": set TMPDIR to a folder with room"
                            : std::string();
}

SpoolFolders::~SpoolFolders() {
  std::error_code error;
  for (const std::string& each : made_) std::filesystem::remove_all(each, error);
}

std::string SpoolFolders::list() const { return fmt::format("{}", fmt::join(paths_, ":")); }

}  // namespace inflight::check
