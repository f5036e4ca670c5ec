// A function's tests of completion that threads were seen to repeat until they succeed.
#pragma once
#include <algorithm>
#include <mutex>
#include <vector>

namespace inflight::machine {

struct Instruction;

// Thread-safe. Belongs to the function's code, so the next module at its addresses begins anew.
class RepeatedTests {
 public:
  void add(const Instruction& instruction) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(all_, &instruction) == all_.end()) all_.push_back(&instruction);
  }
  bool has(const Instruction& instruction) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(all_, &instruction) != all_.end();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<const Instruction*> all_;
};

}  // namespace inflight::machine
