// Reads reports back: SARIF files and HTML pages also contain the findings as JSON.
#include <nlohmann/json.hpp>

#include "gpu/check/report/html.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/host/input_file.hpp"

namespace inflight::check {
namespace {

using nlohmann::json;
constexpr std::uint64_t largest_report = 256 << 20;  // a hundred thousand findings

// The findings in the results of a SARIF file.
json of_sarif(const json& log) {
  json findings = json::array();
  for (const json& run : log.value("runs", json::array()))
    for (const json& result : run.value("results", json::array()))
      findings.push_back(result.value("properties", json::object()).value("finding", json()));
  return {{"version", 1}, {"findings", std::move(findings)}};
}

std::string_view of_page(std::string_view text) {
  const auto begin = text.rfind(page_data_begin);
  if (begin == text.npos) return {};
  text.remove_prefix(begin + page_data_begin.size());
  return text.substr(0, text.find(page_data_end));
}

}  // namespace

tl::expected<std::vector<Finding>, std::string> read_findings(const std::string& path) {
  const auto text = host::read_file(path, largest_report);
  if (!text) return tl::unexpected("'" + path + "' " + text.error());
  const bool page = path.ends_with(".html");
  json j = json::parse(page ? of_page(*text) : std::string_view(*text), nullptr, false);
  if (j.is_discarded())
    return tl::unexpected("'" + path + (page ? "' is not a findings page" : "' is not JSON"));
  if (path.ends_with(".sarif") && j.is_object()) j = of_sarif(j);
  auto all = findings_of(j);
  if (!all) return tl::unexpected("'" + path + "': " + all.error());
  return all;
}

}  // namespace inflight::check
