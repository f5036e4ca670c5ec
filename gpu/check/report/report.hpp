// Reports of several findings: merging, sorting, summaries, and writing to files.
#pragma once
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/report/left_undone.hpp"

namespace inflight::check {

// Merges findings with the same fingerprint and adds their counts. The result is sorted by file,
// line, kind and fingerprint, and does not depend on the input order.
std::vector<Finding> merged(std::vector<Finding> findings);
// Drops repeated reasons and sorts the rest.
Unchecked without_repeats(Unchecked unchecked);

// Removes the findings that are shown only with --strict. Returns their number.
std::size_t take_warnings(std::vector<Finding>& findings);
// "3 warnings: --strict shows them."
std::string hidden(std::size_t warnings);

// The number of findings that affect the exit status (kinds.def); `strict`: with --strict.
std::size_t mistakes(const std::vector<Finding>& findings, bool strict = false);

// "3 findings, 2 of them similar to others, seen 64 times."; "nothing found."; "no finding."
std::string summary(const std::vector<Finding>& findings, Ran ran = Ran::whole);
// One line for each group of like findings, with the number of the others in the group.
std::vector<std::string> headlines(const std::vector<Finding>& findings);

// Whether write_report() supports the file extension of the path.
bool is_report(std::string_view path);
inline constexpr const char* report_endings = ".json, .sarif or .html";

// Writes all findings, in the format that the path's extension selects. "%p" in the path is
// replaced by the process id. A file that is there stays as it is until the new one is complete.
// `source_folders`: as in SourceFiles. Paths in a .sarif file are relative to the first, or to
// source_root() if there is none. An error is a full sentence.
tl::expected<void, std::string> write_report(const std::string& path,
                                             const std::vector<Finding>& findings,
                                             const std::vector<std::string>& source_folders = {},
                                             const Unchecked& unchecked = {});

// What was not checked because launches failed.
Unchecked unchecked_by_failures(const std::vector<Finding>& findings);

// The paths of a list that is separated by colons.
std::vector<std::string> paths_in(std::string_view list);

}  // namespace inflight::check
