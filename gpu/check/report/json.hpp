// Findings as JSON. docs/findings.schema.json describes the format.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

nlohmann::json to_json(const Finding& finding);
// {"version": 1, "findings": [...]}
nlohmann::json to_json(const std::vector<Finding>& findings);
// Serialises as valid UTF-8, whatever bytes the strings contain, and with escapes for what a
// terminal may obey (printable.hpp). indent -1: one line.
std::string dump(const nlohmann::json& json, int indent = -1);

// Parse findings. An error is a sentence.
tl::expected<Finding, std::string> finding_of(const nlohmann::json& json);
tl::expected<std::vector<Finding>, std::string> findings_of(const nlohmann::json& json);
// Reads a report in any format that write_report() writes.
tl::expected<std::vector<Finding>, std::string> read_findings(const std::string& path);

}  // namespace inflight::check
