// A function in the form of another engine, which enters it in place of the handlers of some ops.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/machine/code/op.hpp"

namespace inflight::machine {

// Belongs to one function, and to the blocks whose threads lie in their warps in one way.
struct Compiled {
  virtual ~Compiled() = default;
  struct Entry {
    Handler enter = nullptr;   // for any whole warp; null: none
    Handler resume = nullptr;  // for a warp that left compiled code here, or before this op
  };
  std::vector<Entry> entries;      // by op
  std::uint32_t entry_count = 0;   // ops that have one
  std::uint32_t home_bytes = 0;    // a warp: values that all its lanes share
  std::uint32_t instructions = 0;  // in host code; `handled`: those left to their handlers
  std::uint32_t handled = 0;
  std::uint64_t code_bytes = 0, microseconds = 0;
  std::string why_not;  // empty: it can be entered
};

// The interpreter's handlers of code of which some ops have another one.
struct Interpreted {
  std::vector<Handler> handlers;  // by op
};

// How much the interpreter has executed of a function that another engine could run.
struct Heat {
  std::atomic<std::uint64_t> ops{0};
  std::atomic<bool> asked{false};  // the other engine has been asked for it
};

// What another engine keeps for a function. It goes with the function's code.
struct OtherEngine {
  virtual ~OtherEngine() = default;
};

}  // namespace inflight::machine
