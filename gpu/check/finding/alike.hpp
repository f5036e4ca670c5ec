// Groups findings that most likely are one mistake. For example, a missing barrier causes findings
// at every line before and after it.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

// Findings are alike if kind, sentence, functions and variable are the same; lines may differ. A
// finding that involves only the host is like no other.
class Alike {
 public:
  // Whether an earlier call had a finding like this one.
  bool seen_before(const Finding& finding);

 private:
  std::set<std::string> known_;
};

struct Group {
  const Finding* first = nullptr;
  std::vector<const Finding*> others;  // findings like it
};
// Groups all findings, ordered by the first of each group. They must outlive the result.
std::vector<Group> groups_of(const std::vector<Finding>& findings);

}  // namespace inflight::check
