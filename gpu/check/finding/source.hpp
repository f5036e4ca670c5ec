// Reads the lines of source files and caches them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

class SourceFiles {
 public:
  // All lines of the file. Empty if it cannot be read.
  const std::vector<std::string>& lines(const std::string& file);
  // Stores the text of own_line() in a place, or in every place of a finding.
  void quote(CodePlace& place);
  void quote(Finding& finding);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace inflight::check
