// Where the program's code touched memory, as one reads it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "gpu/cuda/core/watch/touch_log.hpp"

namespace inflight::cuda::watch {

// One caller at a time.
class HostPlaces {
 public:
  // "host code in main (a.out)": of the function that touched the memory, or, where that is the
  // system's (memcpy), of the one that called it. Null: it is this library's own.
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
