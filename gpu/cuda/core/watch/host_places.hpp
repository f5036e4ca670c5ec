// Readable names of the code that touched memory.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "gpu/cuda/core/watch/touch_log.hpp"

namespace inflight::cuda::watch {

// For one thread at a time.
class HostPlaces {
 public:
  // "host code in main (a.out)": the function that touched the memory, or, if that is in a system
  // library (memcpy), its caller. Null: it is in one of this project's libraries.
  const std::string* of(const Touch& touch);

 private:
  struct Place {
    bool own = false, system = false;
    std::string text;
  };
  const Place& at(std::uint64_t code);
  std::map<std::uint64_t, Place> places_;
};

}  // namespace inflight::cuda::watch
