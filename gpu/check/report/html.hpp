// Findings as one page that needs nothing beside it: for people, in any browser.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

std::string to_html(const std::vector<Finding>& findings);
// Around the findings in JSON that a page carries in a comment.
inline constexpr std::string_view page_data_begin = "<!-- findings ", page_data_end = " -->\n";

// The moment of a finding as a picture (SVG): a lane for each warp, time from left to right, copies
// as bars from where they are issued to where they are complete. Empty without a moment.
std::string picture(const Finding& finding);

// Text as HTML shows it: no character of it is markup.
std::string escaped(std::string_view text);

}  // namespace inflight::check
