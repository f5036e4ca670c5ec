// What processes that are checked together leave for whoever started them: a file each in one
// folder, to which every finding is appended as it is found, so that nothing is lost when one dies.
#pragma once
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

// A process's own file.
class Spool {
 public:
  explicit Spool(const std::string& folder);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  bool open() const { return file_ >= 0; }
  void add(const Finding& finding);
  // At the end: how often each was seen, in the order in which they were added.
  void conclude(std::uint64_t launches, const std::vector<Finding>& findings);

 private:
  void append(std::string line);
  int file_ = -1;
};

struct Spooled {
  std::size_t processes = 0;
  std::size_t unfinished = 0;  // of them: those that did not come to their conclusion
  std::uint64_t launches = 0;  // of the others
  std::vector<Finding> findings;
};
// All that lies in the folder. A line that a dying process left half-written is passed over.
Spooled read_spool(const std::string& folder);

}  // namespace inflight::check
