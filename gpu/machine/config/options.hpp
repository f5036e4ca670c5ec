// Options for running a launch on the host: orders, limits, and listeners.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "gpu/async/timing.hpp"

namespace inflight::check {
class Listener;
}

namespace inflight::machine {

// The turns of a block's warps: --turns.
struct Turns {
  enum class Kind : std::uint8_t {
    chip,    // long, but in step after a barrier: an order that is likely on a chip
    fixed,   // `instructions` each
    random,  // random lengths, warps and blocks in random order
  };
  Kind kind = Kind::chip;
  std::uint32_t instructions = 0;
  std::uint64_t seed = 0;
};

// Whether kernels are compiled to host code: --compile.
enum class Compile : std::uint8_t {
  never,
  always,     // before they first run
  automatic,  // beside their run, once they have run for a while
  verify,     // as always; each launch is also interpreted, and the two are compared
};

struct Options {
  Compile compile = Compile::never;
  Turns turns;
  async::Timing timing;                  // --async
  std::chrono::milliseconds timeout{0};  // --timeout, per launch; 0: none
  unsigned workers = 0;                  // host threads; 0: all cores
  check::Listener* listener = nullptr;   // null: nothing listens
  bool progress = false;                 // show progress on standard error if it is a terminal
  std::uint64_t stack_bytes =
      1024;  // cudaLimitStackSize; a frame known at compile time may be larger
  std::uint64_t call_bytes = 1 << 30;  // host memory for a launch's calls
  std::uint64_t heap_bytes = 8 << 20;  // cudaLimitMallocHeapSize
  // Called, from any thread, with advice on what is no fault but makes results doubtful: a
  // sentence, and a key that is the same for equal sentences. May be null.
  std::function<void(const std::string& key, const std::string& sentence)> advise;
  // Called with a sentence on a difference that Compile::verify finds. May be null.
  std::function<void(const std::string& sentence)> differs;
};

}  // namespace inflight::machine
