// Merges, summarises and writes findings.
#include "gpu/check/report/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "gpu/check/finding/alike.hpp"
#include "gpu/check/finding/source.hpp"
#include "gpu/check/printable.hpp"
#include "gpu/check/report/html.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/check/report/sarif.hpp"
#include "gpu/host/output_file.hpp"

namespace inflight::check {
namespace {

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

// Foreign reports may have any counts.
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

using Folders = std::vector<std::string>;
struct Form {
  std::string_view ending;
  std::string (*text)(const std::vector<Finding>& findings, const Folders& source_folders,
                      const Unchecked& unchecked);
};
constexpr Form forms[] = {
    {".json", [](const std::vector<Finding>& all, const Folders&,
                 const Unchecked& unchecked) { return dump(to_json(all, unchecked), 2); }},
    {".sarif",
     [](const std::vector<Finding>& all, const Folders& folders, const Unchecked& unchecked) {
       return dump(to_sarif(all, folders.empty() ? source_root() : folders.front(), unchecked), 2);
     }},
    {".html", [](const std::vector<Finding>& all, const Folders& folders,
                 const Unchecked& unchecked) { return to_html(all, folders, unchecked); }},
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
    const std::uint64_t count = sum_of(added ? 0 : one.finding.count, each.count);
    if (added || text < one.text) one.finding = std::move(each), one.text = std::move(text);
    one.finding.count = count;
  }
  std::vector<Finding> result;
  for (auto& [print, one] : ones) result.push_back(std::move(one.finding));
  std::sort(result.begin(), result.end(),
            [](const Finding& a, const Finding& b) { return order_of(a) < order_of(b); });
  return result;
}

Unchecked without_repeats(Unchecked unchecked) {
  std::sort(unchecked.begin(), unchecked.end());
  unchecked.erase(std::unique(unchecked.begin(), unchecked.end()), unchecked.end());
  return unchecked;
}

Unchecked unchecked_by_failures(const std::vector<Finding>& findings) {
  std::uint64_t failed = 0;
  for (const Finding& each : findings)
    if (each.kind == FindingKind::launch_failed) failed = sum_of(failed, each.count);
  if (failed == 0) return {};
  return {failed == 1 ? "1 launch failed. What it had not done by then is not checked."
                      : fmt::format("{} launches failed. What they had not done by then is not "
                                    "checked.",
                                    failed)};
}

std::size_t mistakes(const std::vector<Finding>& findings, bool strict) {
  const Counts last = strict ? Counts::strict : Counts::always;
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Finding& f) { return facts_of(f.kind).counts <= last; }));
}

std::size_t take_warnings(std::vector<Finding>& findings) {
  return std::erase_if(findings, [](const Finding& f) { return only_if_strict(f.kind); });
}

std::string hidden(std::size_t warnings) {
  return fmt::format("{}: --strict shows {}.", plural(warnings, "warning"),
                     warnings == 1 ? "it" : "them");
}

std::string summary(const std::vector<Finding>& findings, Ran ran) {
  if (findings.empty()) return ran == Ran::whole ? "nothing found." : "no finding.";
  std::uint64_t times = 0;
  for (const Finding& each : findings) times = sum_of(times, each.count);
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
                                             const std::vector<std::string>& source_folders,
                                             const Unchecked& unchecked) {
  const Form* const form = form_of(path);
  if (!form) return tl::unexpected(fmt::format("'{}' does not end in {}", path, report_endings));
  std::string name = path;
  for (auto at = name.find("%p"); at != name.npos; at = name.find("%p", at))
    name.replace(at, 2, std::to_string(getpid()));
  const auto wrote = host::replace_file(
      name, form->text(findings, source_folders, without_repeats(unchecked)) + "\n");
  if (!wrote)
    return tl::unexpected(fmt::format("the findings could not be written to '{}': {}",
                                      printable(name), wrote.error()));
  return {};
}

std::vector<std::string> paths_in(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const auto colon = std::min(list.find(':'), list.size());
    if (colon) paths.emplace_back(list.substr(0, colon));
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
  return paths;
}

}  // namespace inflight::check
