// How a launch ended.
#pragma once
#include <cstdint>
#include <string>

namespace inflight::machine {

// The reason that a kernel ended. Each has one CUDA error code (gpu/cuda maps them).
enum class FaultKind : std::uint8_t {
  none,
  refused,                // it reached or needs something unsupported
  invalid_launch,         // a configuration that the kernel or the device does not allow
  invalid_cluster,        // clusters that the grid, the kernel or the device does not allow
  too_many_resources,     // threads or shared memory past the limits
  cooperative_too_large,  // a cooperative grid that cannot be wholly resident
  illegal_address,        // out of bounds, freed, null
  misaligned_address,
  invalid_address_space,
  invalid_pc,           // a call to an address that is not a function
  illegal_instruction,  // `brkpt`, a malformed operation
  stack_overflow,
  assertion,       // __assertfail
  trap,            // `trap`
  launch_failure,  // shared memory of a missing block
  deadlock,        // nothing can ever move
  timeout,         // --timeout passed
  interrupted,     // Ctrl-C
};

struct Outcome {
  FaultKind kind = FaultKind::none;
  // One readable paragraph for standard error; empty if all is well. For a cancelled launch it says
  // where the launch was.
  std::string report;
  std::uint64_t launch = 0;  // the child launch that failed; 0: the launch itself
  // For an access past the end of device memory: the smallest power of two from 512 bytes to a
  // page's 2 MiB such that rounding the size up to a multiple of it would cover the access. 0:
  // another cause.
  std::uint64_t slack = 0;
  bool ok() const { return kind == FaultKind::none; }
};

}  // namespace inflight::machine
