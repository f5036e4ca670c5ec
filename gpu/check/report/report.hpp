// Reports of many findings: joined, in an order of their own, and written to files.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

// Findings with the same fingerprint are one, and their counts add up. Whatever the order in which
// they come, the result is the same: by file, line, kind and fingerprint.
std::vector<Finding> merged(std::vector<Finding> findings);

// How many findings count for the exit status: all but advice.
std::size_t mistakes(const std::vector<Finding>& findings);

// "3 findings, 2 of them like another, seen 64 times."; "nothing found."
std::string summary(const std::vector<Finding>& findings);
// A line for each that is like none before it, with how many are like it.
std::vector<std::string> headlines(const std::vector<Finding>& findings);

// Whether write_report() knows the ending. The endings in words: ".json, .sarif or .html".
bool is_report(std::string_view path);
inline constexpr const char* report_endings = ".json, .sarif or .html";

// Writes all of them, in the form that the path's ending names. "%p" in the path stands for this
// process's id. `root`: the folder that paths in a .sarif file count from; empty: source_root(). An
// error is a sentence.
tl::expected<void, std::string> write_report(const std::string& path,
                                             const std::vector<Finding>& findings,
                                             const std::string& root = {});

// The folder of the working tree (with .git) that the process stands in, else its own folder.
std::string source_root();

}  // namespace inflight::check
