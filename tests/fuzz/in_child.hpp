// Runs an input in a process of its own, which begins without a device, so that a fault of one
// input ends nothing for the next.
#pragma once
#include <functional>
#include <string>

namespace inflight::fuzz {

struct ChildEnd {
  int status = 0;         // as waitpid() gives it
  bool too_slow = false;  // it was killed
  std::string printed;    // the end of what it printed
  bool well() const { return !too_slow && status == 0; }
};

// The child ends with exit(0) after `body`. It is killed after `seconds`, and ends itself if it
// takes gigabytes.
ChildEnd in_child(unsigned seconds, const std::function<void()>& body);
// What happened, in words.
std::string described(const ChildEnd& end);

}  // namespace inflight::fuzz
