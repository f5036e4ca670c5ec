// The environment variables that child processes need to run on the software GPU too, even if they
// are started with a different environment.
#pragma once
#include <cstddef>

namespace inflight::loader {

// Copies of the variables that `inflight run` set, taken from the initial environment, which
// programs may overwrite.
class InheritedVariables {
 public:
  void keep(const char* const* environment);
  // The number of them that `environment` lacks. 0 if it sets LD_AUDIT to any value.
  std::size_t missing(const char* const* environment) const;
  // Writes the environment, the variables that it lacks, and a null pointer.
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
