// A call into the API, as the thread that makes it knows it.
#pragma once
#include <string_view>

#include "gpu/cuda/core/base/call_facts.hpp"

namespace inflight::cuda {

class Call : public CallFacts {
 public:
  explicit Call(const char* name) : name(name) {}

  // The call is about this kernel, by its name in the PTX.
  static void is_about(std::string_view kernel);
  // From now on, report() keeps its sentences for the end of the call: as the finding's if it
  // fails, else to be printed. Without a checker, no effect.
  static void hold();

  const char* const name;
};

// True if anyone is told of failed calls.
bool wants_failures();

}  // namespace inflight::cuda
