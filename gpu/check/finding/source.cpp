// Reads source lines, without line ends and trailing spaces, and with tabs expanded.
#include "gpu/check/finding/source.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "gpu/host/input_file.hpp"

namespace inflight::check {
namespace {

constexpr std::uint64_t most_bytes = 16 << 20;
constexpr std::size_t longest_line = 400;

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  const auto text = host::read_file(path, most_bytes);
  std::istringstream file(text.value_or(std::string()));
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    for (auto tab = line.find('\t'); tab != line.npos; tab = line.find('\t', tab))
      line.replace(tab, 1, 8 - tab % 8, ' ');
    if (line.size() > longest_line) line = line.substr(0, longest_line) + "...";
    lines.push_back(std::move(line));
  }
  return lines;
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

std::vector<CodeLine> distinct_calls(const CodePlace& place) {
  std::vector<CodeLine> calls;
  for (const CodeLine& each : place.inlined_at)
    if (std::find(calls.begin(), calls.end(), each) == calls.end()) calls.push_back(each);
  return calls;
}

const std::vector<std::string>& SourceFiles::lines(const std::string& file) {
  const auto found = files_.find(file);
  if (found != files_.end()) return found->second;
  return files_[file] = read_lines(file);
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
