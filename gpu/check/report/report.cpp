// Merges, summarises and writes findings.
#include "gpu/check/report/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>

#include "gpu/check/finding/alike.hpp"
#include "gpu/check/report/html.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/check/report/sarif.hpp"

namespace inflight::check {
namespace {

namespace fs = std::filesystem;

// The text of a finding without its count. Of several findings of one mistake, merged() shows the
// one with the smallest text.
std::string without_count(const Finding& finding) {
  Finding once = finding;
  once.count = 1;
  return dump(to_json(once));
}

auto order_of(const Finding& f) {
  const CodePlace& p = f.here.place;
  return std::tuple(p.file, p.line, p.column, p.mangled, p.ptx_line, f.kind, fingerprint(f));
}

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

struct Form {
  std::string_view ending;
  std::string (*text)(const std::vector<Finding>& findings, const std::string& root);
};
constexpr Form forms[] = {
    {".json",
     [](const std::vector<Finding>& all, const std::string&) { return dump(to_json(all), 2); }},
    {".sarif", [](const std::vector<Finding>& all,
                  const std::string& root) { return dump(to_sarif(all, root), 2); }},
    {".html", [](const std::vector<Finding>& all, const std::string&) { return to_html(all); }},
};

const Form* form_of(std::string_view path) {
  for (const Form& each : forms)
    if (path.ends_with(each.ending)) return &each;
  return nullptr;
}

}  // namespace

std::vector<Finding> merged(std::vector<Finding> findings) {
  struct One {
    Finding finding;
    std::string text;
  };
  std::map<std::string, One> ones;  // by fingerprint
  for (Finding& each : findings) {
    std::string text = without_count(each);
    const auto [found, added] = ones.try_emplace(fingerprint(each));
    One& one = found->second;
    const std::uint64_t count = (added ? 0 : one.finding.count) + each.count;
    if (added || text < one.text) one.finding = std::move(each), one.text = std::move(text);
    one.finding.count = count;
  }
  std::vector<Finding> result;
  for (auto& [print, one] : ones) result.push_back(std::move(one.finding));
  std::sort(result.begin(), result.end(),
            [](const Finding& a, const Finding& b) { return order_of(a) < order_of(b); });
  return result;
}

std::size_t mistakes(const std::vector<Finding>& findings) {
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(),
      [](const Finding& f) { return facts_of(f.kind).severity != Severity::advice; }));
}

std::string summary(const std::vector<Finding>& findings) {
  if (findings.empty()) return "nothing found.";
  std::uint64_t times = 0;
  for (const Finding& each : findings) times += each.count;
  const std::size_t alike = findings.size() - groups_of(findings).size();
  return fmt::format("{}{}, seen {}.", plural(findings.size(), "finding"),
                     alike ? fmt::format(", {} of them similar to others", alike) : "",
                     plural(times, "time"));
}

std::vector<std::string> headlines(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Group& group : groups_of(findings)) {
    lines.push_back(headline(*group.first));
    if (!group.others.empty()) lines.back() += fmt::format(", and {} similar", group.others.size());
  }
  return lines;
}

bool is_report(std::string_view path) { return form_of(path) != nullptr; }

tl::expected<void, std::string> write_report(const std::string& path,
                                             const std::vector<Finding>& findings,
                                             const std::string& root) {
  const Form* const form = form_of(path);
  if (!form) return tl::unexpected(fmt::format("'{}' does not end in {}", path, report_endings));
  std::string name = path;
  for (auto at = name.find("%p"); at != name.npos; at = name.find("%p", at))
    name.replace(at, 2, std::to_string(getpid()));
  std::ofstream file(name, std::ios::binary | std::ios::trunc);
  file << form->text(findings, root.empty() ? source_root() : root) << '\n';
  file.close();
  if (!file) return tl::unexpected(fmt::format("the findings could not be written to '{}'", name));
  return {};
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

}  // namespace inflight::check
