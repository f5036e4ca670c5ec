// Lines of source files, read once.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

class SourceFiles {
 public:
  // All lines of the file; none if it cannot be read.
  const std::vector<std::string>& lines(const std::string& file);
  // Puts the text of its own_line() into a place, of a finding into each of its places.
  void quote(CodePlace& place);
  void quote(Finding& finding);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace inflight::check
