// Reads reports back: SARIF files and HTML pages also contain the findings as JSON.
#include <nlohmann/json.hpp>

#include "gpu/check/printable.hpp"
#include "gpu/check/report/html.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/check/report/sarif.hpp"
#include "gpu/host/input_file.hpp"

namespace inflight::check {
namespace {

using nlohmann::json;
constexpr std::uint64_t largest_report = 256 << 20;  // a hundred thousand findings

// The member of an object, or null.
const json* member(const json& of, const char* name) {
  const auto found = of.is_object() ? of.find(name) : of.end();
  return found == of.end() ? nullptr : &*found;
}

using ReadReport = tl::expected<Report, std::string>;

// The texts of what a run's invocations tell of their execution.
void read_notifications(const json& run, Unchecked& unchecked) {
  const json* const invocations = member(run, "invocations");
  for (std::size_t i = 0; invocations && invocations->is_array() && i < invocations->size(); ++i) {
    const json* const told = member((*invocations)[i], "toolExecutionNotifications");
    for (std::size_t n = 0; told && told->is_array() && n < told->size(); ++n) {
      const json* const message = member((*told)[n], "message");
      const json* const text = message ? member(*message, "text") : nullptr;
      if (text && text->is_string()) unchecked.push_back(text->get<std::string>());
    }
  }
}

// The findings in the results of a SARIF file of this tool. An error completes "FILE: ...".
ReadReport of_sarif(const json& log) {
  const auto wrong = [](const char* what) { return tl::unexpected(std::string(what)); };
  if (!log.is_object()) return wrong("the file is not a SARIF log, which is an object");
  const json* const runs = member(log, "runs");
  if (!runs || !runs->is_array()) return wrong("'runs' is not an array");
  Report all;
  bool own = !runs->empty();
  for (const json& run : *runs) {
    if (!run.is_object()) return wrong("a run is not an object");
    const json* const results = member(run, "results");
    if (results && !results->is_array()) return wrong("a run's 'results' is not an array");
    // Without a copy: copying nests as deeply as the file.
    for (std::size_t i = 0; results && i < results->size(); ++i) {
      const json& result = (*results)[i];
      const json* const properties = member(result, "properties");
      const json* const found = properties ? member(*properties, "finding") : nullptr;
      if (!found) return wrong("a finding is not an object: the result is another tool's");
      auto finding = finding_of(*found);
      if (!finding) return tl::unexpected(finding.error());
      all.findings.push_back(std::move(*finding));
    }
    read_notifications(run, all.unchecked);
    const json* const tool = member(run, "tool");
    const json* const driver = tool ? member(*tool, "driver") : nullptr;
    const json* const name = driver ? member(*driver, "name") : nullptr;
    own = own && results && name && *name == sarif_tool;
  }
  if (!own) return wrong("it is not a report of this tool: another wrote it");
  return all;
}

std::string_view of_page(std::string_view text) {
  const auto begin = text.rfind(page_data_begin);
  if (begin == text.npos) return {};
  text.remove_prefix(begin + page_data_begin.size());
  return text.substr(0, text.find(page_data_end));
}

}  // namespace

tl::expected<Report, std::string> read_report(const std::string& path) {
  const std::string name = "'" + printable(path) + "'";
  const auto text = host::read_file(path, largest_report);
  if (!text) return tl::unexpected(name + " " + text.error());
  const bool page = path.ends_with(".html");
  const json j = json::parse(page ? of_page(*text) : std::string_view(*text), nullptr, false);
  if (j.is_discarded())
    return tl::unexpected(name + (page ? " is not a findings page" : " is not JSON"));
  auto all = path.ends_with(".sarif") ? of_sarif(j) : report_of(j);
  if (!all) return tl::unexpected(name + ": " + all.error());
  return all;
}

tl::expected<std::vector<Finding>, std::string> read_findings(const std::string& path) {
  auto report = read_report(path);
  if (!report) return tl::unexpected(std::move(report.error()));
  return std::move(report->findings);
}

}  // namespace inflight::check
