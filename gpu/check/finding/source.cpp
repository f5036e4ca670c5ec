// Reads source lines, without line ends and trailing spaces, and with tabs expanded.
#include "gpu/check/finding/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "gpu/host/input_file.hpp"

namespace inflight::check {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_source = 16 << 20;  // bytes
constexpr std::size_t longest_line = 400;

// Where toolkits and the system's headers are installed.
constexpr std::string_view installed[] = {"/usr/local/cuda", "/usr/lib/cuda/",
                                          "/opt/cuda/",      "/opt/nvidia/",
                                          "/usr/include/",   "/usr/local/include/"};
// What the system itself shows as files.
constexpr std::string_view no_sources[] = {"/proc/", "/sys/", "/dev/"};

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  const auto text = host::read_file(path, largest_source);
  if (!text) return lines;
  std::istringstream file(*text);
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    for (auto tab = line.find('\t'); tab != line.npos; tab = line.find('\t', tab))
      line.replace(tab, 1, 8 - tab % 8, ' ');
    if (line.size() > longest_line) line = line.substr(0, longest_line) + "...";
    lines.push_back(std::move(line));
  }
  return lines;
}

// The real path of a folder, with a slash at the end. Empty if there is none.
std::string real_folder(const std::string& folder) {
  std::error_code error;
  std::string path = folder.empty() ? folder : fs::canonical(folder, error).string();
  if (error || path.empty()) return {};
  if (!path.ends_with('/')) path += '/';
  return path;
}

// Whether the file belongs to an installation, not to the user's own sources.
bool is_installed(std::string_view file) {
  if (file.find("/include/") == file.npos) return false;
  return file.starts_with("/usr/") || file.starts_with("/opt/") ||
         file.find("/site-packages/") != file.npos || file.find("/targets/") != file.npos;
}

}  // namespace

CodeLine own_line(const CodePlace& place) {
  CodeLine line{place.file, place.line, place.column};
  for (const CodeLine& each : place.inlined_at) {
    if (!is_installed(line.file)) break;
    line = each;
  }
  return line;
}

std::string short_line(const CodePlace& place) {
  const CodeLine own = own_line(place);
  if (own.file.empty()) return fmt::format("PTX line {}", place.ptx_line);
  return fmt::format("{}:{}", std::filesystem::path(own.file).filename().string(), own.line);
}

std::vector<CodeLine> distinct_calls(const CodePlace& place) {
  std::vector<CodeLine> calls;
  for (const CodeLine& each : place.inlined_at)
    if (std::find(calls.begin(), calls.end(), each) == calls.end()) calls.push_back(each);
  return calls;
}

std::string source_root() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  for (fs::path folder = here; !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return folder.string();
    if (folder == folder.parent_path()) break;
  }
  return here.string();
}

SourceFiles::SourceFiles(const std::vector<std::string>& folders) {
  for (const std::string& each : folders) folders_.push_back(real_folder(each));
  // A service or container works in "/", which says nothing about what its user means.
  for (const std::string& each : {std::string("."), source_root()})
    if (const std::string folder = real_folder(each); folder != "/") folders_.push_back(folder);
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const toolkit = std::getenv(variable);
    if (const std::string folder = real_folder(toolkit ? toolkit : ""); folder != "/")
      folders_.push_back(folder);
  }
  std::erase(folders_, "");
}

bool SourceFiles::may_show(const std::string& real_path) const {
  const auto begins = [&](std::string_view folder) { return real_path.starts_with(folder); };
  if (std::any_of(std::begin(no_sources), std::end(no_sources), begins)) return false;
  if (std::any_of(std::begin(installed), std::end(installed), begins)) return true;
  return std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) {
    return begins(folder) && real_path.find("/.", folder.size() - 1) == real_path.npos;
  });
}

const std::vector<std::string>& SourceFiles::lines(const std::string& file) {
  const auto found = files_.find(file);
  if (found != files_.end()) return found->second;
  std::error_code error;
  const std::string path = file.empty() ? file : fs::canonical(file, error).string();
  std::vector<std::string>& lines = files_[file];
  if (!error && may_show(path)) lines = read_lines(path);
  return lines;
}

void SourceFiles::quote(CodePlace& place) {
  const CodeLine own = own_line(place);
  if (own.file.empty() || own.line == 0 || !place.source.empty()) return;
  const std::vector<std::string>& all = lines(own.file);
  if (own.line <= all.size()) place.source = all[own.line - 1];
  if (place.inlined_at.empty()) return;
  const CodeLine& call = place.inlined_at.back();
  if (call.file == own.file && call.line == own.line) return;
  const std::vector<std::string>& there = lines(call.file);
  if (call.line != 0 && call.line <= there.size()) place.call_source = there[call.line - 1];
}

void SourceFiles::quote(Finding& finding) {
  quote(finding.here.place);
  for (Party& each : finding.there) quote(each.place);
  for (Party& each : finding.in_flight) quote(each.place);
  for (Step& each : finding.moment) quote(each.place);
}

}  // namespace inflight::check
