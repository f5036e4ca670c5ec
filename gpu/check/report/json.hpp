// Findings as JSON. docs/findings.schema.json describes the format.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/report/left_undone.hpp"

namespace inflight::check {

nlohmann::json to_json(const Finding& finding);
// {"version": 1, "complete": true, "findings": [...]}, and "unchecked" with the reasons if it is
// not complete.
nlohmann::json to_json(const std::vector<Finding>& findings, const Unchecked& unchecked = {});
// Serialises as valid UTF-8, whatever bytes the strings contain, and with escapes for what a
// terminal may obey (printable.hpp). indent -1: one line.
std::string dump(const nlohmann::json& json, int indent = -1);

// Parse findings. An error is a sentence.
tl::expected<Finding, std::string> finding_of(const nlohmann::json& json);
struct Report {
  std::vector<Finding> findings;
  Unchecked unchecked;
};
tl::expected<Report, std::string> report_of(const nlohmann::json& json);
// Read a report in any format that write_report() writes, or only its findings.
tl::expected<Report, std::string> read_report(const std::string& path);
tl::expected<std::vector<Finding>, std::string> read_findings(const std::string& path);

}  // namespace inflight::check
