// Findings as one self-contained HTML page.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/report/left_undone.hpp"

namespace inflight::check {

// `source_folders`: as in SourceFiles.
std::string to_html(const std::vector<Finding>& findings,
                    const std::vector<std::string>& source_folders = {},
                    const Unchecked& unchecked = {});
// Markers around the findings in JSON, which a page contains in a comment.
inline constexpr std::string_view page_data_begin = "<!-- findings ", page_data_end = " -->\n";

// Draws Finding::moment as SVG: one row per warp, time from left to right, and copies as bars from
// issue to completion. Empty if there are no steps.
std::string picture(const Finding& finding);

// Escapes text for HTML, and what is unprintable as printable() does.
std::string escaped(std::string_view text);

}  // namespace inflight::check
