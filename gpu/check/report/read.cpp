// Reads reports back: SARIF files and HTML pages also contain the findings as JSON.
#include <nlohmann/json.hpp>

#include "gpu/check/printable.hpp"
#include "gpu/check/report/html.hpp"
#include "gpu/check/report/json.hpp"
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

// The findings in the results of a SARIF file. An error completes the sentence "FILE: ...".
tl::expected<json, std::string> of_sarif(const json& log) {
  const auto wrong = [](const char* what) { return tl::unexpected(std::string(what)); };
  if (!log.is_object()) return wrong("the file is not a SARIF log, which is an object");
  const json* const runs = member(log, "runs");
  if (!runs || !runs->is_array()) return wrong("'runs' is not an array");
  json findings = json::array();
  for (const json& run : *runs) {
    if (!run.is_object()) return wrong("a run is not an object");
    const json* const results = member(run, "results");
    if (!results || results->is_null()) continue;  // a run may have none
    if (!results->is_array()) return wrong("a run's 'results' is not an array");
    for (const json& result : *results) {
      const json* const properties = member(result, "properties");
      const json* const finding = properties ? member(*properties, "finding") : nullptr;
      if (!finding) return wrong("a finding is not an object: the result is another tool's");
      findings.push_back(*finding);
    }
  }
  return json{{"version", 1}, {"findings", std::move(findings)}};
}

std::string_view of_page(std::string_view text) {
  const auto begin = text.rfind(page_data_begin);
  if (begin == text.npos) return {};
  text.remove_prefix(begin + page_data_begin.size());
  return text.substr(0, text.find(page_data_end));
}

}  // namespace

tl::expected<std::vector<Finding>, std::string> read_findings(const std::string& path) {
  const std::string name = "'" + printable(path) + "'";
  const auto text = host::read_file(path, largest_report);
  if (!text) return tl::unexpected(name + " " + text.error());
  const bool page = path.ends_with(".html");
  json j = json::parse(page ? of_page(*text) : std::string_view(*text), nullptr, false);
  if (j.is_discarded())
    return tl::unexpected(name + (page ? " is not a findings page" : " is not JSON"));
  if (path.ends_with(".sarif")) {
    auto findings = of_sarif(j);
    if (!findings) return tl::unexpected(name + ": " + findings.error());
    j = std::move(*findings);
  }
  auto all = findings_of(j);
  if (!all) return tl::unexpected(name + ": " + all.error());
  return all;
}

}  // namespace inflight::check
