// Findings as SARIF 2.1.0, as code scanning services read it.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

// Paths of files below `root` count from there (%SRCROOT%); others are absolute.
nlohmann::json to_sarif(const std::vector<Finding>& findings, const std::string& root);

}  // namespace inflight::check
