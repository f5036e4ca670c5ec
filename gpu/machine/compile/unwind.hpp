// Lets exceptions that handlers throw pass through host code to who runs the launch.
#pragma once
#include <cstddef>
#include <vector>

namespace inflight::machine::compile {

// Tells the unwinder how host code keeps its caller's registers where it calls: everywhere in the
// same way (Emitter::prologue).
class Unwind {
 public:
  Unwind(const void* code, std::size_t bytes);
  ~Unwind();
  Unwind(const Unwind&) = delete;
  Unwind& operator=(const Unwind&) = delete;

 private:
  std::vector<unsigned char> section_;  // as an .eh_frame section
};

}  // namespace inflight::machine::compile
