// Passes findings of several checked processes to the process that started them. Each appends every
// finding immediately to its own file in one folder, so that none is lost if a process is killed.
#pragma once
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

// The file of one process. No file is created on failure: see open().
class Spool {
 public:
  explicit Spool(const std::string& folder);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  bool open() const { return file_ >= 0; }
  void add(const Finding& finding);
  // Call it last: appends the count of each finding, in the order in which they were added.
  void conclude(std::uint64_t launches, const std::vector<Finding>& findings);

 private:
  void append(std::string line);
  int file_ = -1;
};

struct Spooled {
  std::size_t processes = 0;
  std::size_t unfinished = 0;  // processes that did not call conclude()
  std::uint64_t launches = 0;  // launches of the other processes
  std::vector<Finding> findings;
};
// Reads all files in the folder. Skips an incomplete line that a killed process left.
Spooled read_spool(const std::string& folder);

}  // namespace inflight::check
