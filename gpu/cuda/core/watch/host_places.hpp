// Readable names of the code that touched memory, or made a call.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/cuda/core/watch/touch_log.hpp"

namespace inflight::cuda::watch {

// For one thread at a time.
class HostPlaces {
 public:
  // "host code in main (a.out)": the function that touched the memory, or, if that is in a system
  // library (memcpy), its caller. Null: it is in one of this project's libraries.
  const std::string* of(const Touch& touch);
  // The first function of these return addresses that is the program's own (host_caller.hpp).
  std::string caller(std::span<void* const> stack, std::string_view kernel);

 private:
  struct Place {
    bool own = false, system = false;
    std::string file, function;  // its symbol
    std::string text;
  };
  const Place& at(std::uint64_t code);
  std::map<std::uint64_t, Place> places_;
};

}  // namespace inflight::cuda::watch
