// Each line of a file is JSON: a finding, or at the end {"launches": N, "counts": [...]}.
#include "gpu/check/report/spool.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "gpu/check/report/json.hpp"

namespace inflight::check {
namespace {

using nlohmann::json;
constexpr std::string_view ending = ".findings";

void read_process(const std::filesystem::path& path, Spooled& all) {
  ++all.processes;
  bool finished = false;
  std::vector<Finding> own;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const json j = json::parse(line, nullptr, false);
    if (j.is_discarded() || !j.is_object()) continue;
    if (auto finding = finding_of(j)) {
      own.push_back(std::move(*finding));
    } else if (j.contains("counts")) {
      finished = true;
      const auto number = [](const json& value) {
        return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
      };
      if (const auto launches = j.find("launches"); launches != j.end())
        all.launches += number(*launches);
      const json& counts = j["counts"];
      for (std::size_t i = 0; counts.is_array() && i < counts.size() && i < own.size(); ++i)
        own[i].count = number(counts[i]);
    }
  }
  all.unfinished += !finished;
  for (Finding& each : own) all.findings.push_back(std::move(each));
}

}  // namespace

Spool::Spool(const std::string& folder) {
  std::string path = folder + "/" + std::to_string(getpid()) + "-XXXXXX" + std::string(ending);
  file_ = mkostemps(path.data(), static_cast<int>(ending.size()), O_APPEND | O_CLOEXEC);
}

Spool::~Spool() {
  if (open()) close(file_);
}

void Spool::append(std::string line) {
  line += '\n';
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t wrote = write(file_, line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

void Spool::add(const Finding& finding) { append(dump(to_json(finding))); }

void Spool::conclude(std::uint64_t launches, const std::vector<Finding>& findings) {
  json counts = json::array();
  for (const Finding& each : findings) counts.push_back(each.count);
  append(dump({{"launches", launches}, {"counts", std::move(counts)}}));
}

Spooled read_spool(const std::string& folder) {
  Spooled all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().string().ends_with(ending)) read_process(entry.path(), all);
  return all;
}

}  // namespace inflight::check
