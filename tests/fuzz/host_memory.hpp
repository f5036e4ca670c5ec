// Memory that a fuzzed program gives to calls.
#pragma once
#include <cstddef>
#include <string>

namespace inflight::fuzz {

// Memory of the program, between guards that no call may change.
class HostMemory {
 public:
  HostMemory();
  char* base() const { return base_; }
  static constexpr std::size_t bytes = 4 << 20;
  // The sentence of what has changed, or empty.
  std::string changed() const;

 private:
  char* all_;
  char* base_;
};

}  // namespace inflight::fuzz
