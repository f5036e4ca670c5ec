// How a launch is to run on the host: orders, limits, and who is notified.
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

// In what turns a block's warps run: --turns.
struct Turns {
  enum class Kind : std::uint8_t {
    chip,    // long ones, but in step behind a barrier: an order that a chip is likely to take
    fixed,   // so many instructions each
    random,  // of random lengths, warps and blocks in a random order
  };
  Kind kind = Kind::chip;
  std::uint32_t instructions = 0;
  std::uint64_t seed = 0;
};

struct Options {
  Turns turns;
  async::Timing timing;                  // --async
  std::chrono::milliseconds timeout{0};  // --timeout a launch; 0: none
  unsigned workers = 0;                  // host threads; 0: all cores
  check::Listener* listener = nullptr;   // null: nothing listens
  bool progress = false;                 // show progress on standard error when it is a terminal
  std::uint64_t stack_bytes =
      1024;  // cudaLimitStackSize; a frame known at compile time may be larger
  std::uint64_t call_bytes = 1 << 30;  // of the host's memory, for a launch's calls
  std::uint64_t heap_bytes = 8 << 20;  // cudaLimitMallocHeapSize
  // Is notified of what is no fault but makes results doubtful: a sentence, and a key that is the
  // same wherever the sentence would be. From any thread; null: nobody is.
  std::function<void(const std::string& key, const std::string& sentence)> advise;
};

}  // namespace inflight::machine
