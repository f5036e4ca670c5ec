// What of this process's environment the programs that it starts must have to be on the software
// GPU too, where they are given another environment.
#pragma once
#include <cstddef>

namespace inflight::loader {

// Copies of the variables that `inflight run` set, from the environment that the process began
// with: programs may write over that.
class Carried {
 public:
  void keep(const char* const* environment);
  // How many of them `environment` lacks. None if it sets LD_AUDIT, to whatever.
  std::size_t missing(const char* const* environment) const;
  // The environment, what it lacks, and the null at the end.
  void join(const char* const* environment, const char** to) const;

 private:
  void keep_one(const char* variable);

  static constexpr std::size_t most = 64, bytes = 16384;
  const char* variables_[most] = {};
  std::size_t count_ = 0, used_ = 0;
  char text_[bytes] = {};
};

std::size_t count_of(const char* const* environment);

}  // namespace inflight::loader
