// Reads reports back: SARIF files and HTML pages also contain the findings as JSON.
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "gpu/check/report/html.hpp"
#include "gpu/check/report/json.hpp"

namespace inflight::check {
namespace {

using nlohmann::json;

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
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected("'" + path + "' cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool page = path.ends_with(".html");
  json j = json::parse(page ? of_page(text) : std::string_view(text), nullptr, false);
  if (j.is_discarded())
    return tl::unexpected("'" + path + (page ? "' is not a findings page" : "' is not JSON"));
  if (path.ends_with(".sarif") && j.is_object()) j = of_sarif(j);
  auto all = findings_of(j);
  if (!all) return tl::unexpected("'" + path + "': " + all.error());
  return all;
}

}  // namespace inflight::check
