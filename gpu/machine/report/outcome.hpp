// How a launch ended.
#pragma once
#include <cstdint>
#include <string>

namespace inflight::machine {

// What ended a kernel. Each has one CUDA error code (gpu/cuda maps them).
enum class FaultKind : std::uint8_t {
  none,
  refused,                // it reached what is not supported, or cannot begin without that
  invalid_launch,         // a configuration the kernel or the device does not allow
  invalid_cluster,        // clusters that the grid, the kernel or the device does not allow
  too_many_resources,     // threads or shared memory past the limits
  cooperative_too_large,  // a cooperative grid that cannot be wholly resident
  illegal_address,        // out of bounds, freed, null
  misaligned_address,
  invalid_address_space,
  invalid_pc,           // a call to what is no function
  illegal_instruction,  // `brkpt`, a malformed operation
  stack_overflow,
  assertion,       // __assertfail
  trap,            // `trap`
  launch_failure,  // shared memory of a block that is not there
  deadlock,        // nothing can ever move
  timeout,         // --timeout passed
  interrupted,     // Ctrl-C
};

struct Outcome {
  FaultKind kind = FaultKind::none;
  // One readable paragraph for standard error; empty when all is well. A launch that was cancelled
  // says where it was.
  std::string report;
  std::uint64_t launch = 0;  // whose it is, where one that its kernel has launched; else 0
  // An access past the end of device memory ended it: the least power of two, a page's 2 MiB at
  // most, to whose next multiple the memory would have to reach for it. 0: something else did.
  std::uint64_t slack = 0;
  bool ok() const { return kind == FaultKind::none; }
};

}  // namespace inflight::machine
