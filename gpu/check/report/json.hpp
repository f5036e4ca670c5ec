// Findings for machines: docs/findings.schema.json describes what is written and read here.
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
// As text in UTF-8, whatever bytes its strings have. No indent: one line.
std::string dump(const nlohmann::json& json, int indent = -1);

// The way back. An error is a sentence.
tl::expected<Finding, std::string> finding_of(const nlohmann::json& json);
tl::expected<std::vector<Finding>, std::string> findings_of(const nlohmann::json& json);
// Of a report in any of the forms that are written.
tl::expected<std::vector<Finding>, std::string> read_findings(const std::string& path);

}  // namespace inflight::check
