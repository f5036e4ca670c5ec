// Findings for machines: docs/findings.schema.json describes what this writes.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

nlohmann::json to_json(const Finding& finding);
// {"version": 1, "findings": [...]}
nlohmann::json to_json(const std::vector<Finding>& findings);

}  // namespace inflight::check
