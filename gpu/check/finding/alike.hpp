// Which findings are most likely one mistake: a barrier that is missing shows at every line before
// it and every line behind it.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

// Findings are alike that say the same (kind and sentence) of the same functions and the same
// variable, at whatever lines. Those of the host alone are like no other.
class Alike {
 public:
  // Of those that it was asked about before, is one like this?
  bool knows(const Finding& finding);

 private:
  std::set<std::string> known_;
};

struct Group {
  const Finding* first = nullptr;
  std::vector<const Finding*> others;  // that are like it
};
// All of them, in the order of those that come first. They must outlive it.
std::vector<Group> groups_of(const std::vector<Finding>& findings);

}  // namespace inflight::check
