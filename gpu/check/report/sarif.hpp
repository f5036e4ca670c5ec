// Findings as SARIF 2.1.0, the format of code scanning services.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/report/left_undone.hpp"

namespace inflight::check {

inline constexpr const char* sarif_tool = "Inflight";  // the driver's name

// Paths of files below `root` are relative to it (%SRCROOT%). Others are absolute.
// The invocation is not successful if something was not checked, and says what.
nlohmann::json to_sarif(const std::vector<Finding>& findings, const std::string& root,
                        const Unchecked& unchecked = {});

}  // namespace inflight::check
