// The architecture that a compiler's options ask for.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::compilers {

// sm_90, compute_90a, sm_100f.
struct Target {
  bool machine_code = false;  // sm_
  cuda::Architecture architecture;
};
std::optional<Target> read_target(std::string_view text);

// NVRTC's options with every sm_XX replaced by compute_XX, so that PTX is what it makes.
struct VirtualOptions {
  std::vector<std::string> words;
  bool machine_code = false;  // was asked for
  unsigned registers = 0;     // the most that a thread of the machine code may use; 0: no limit
};
VirtualOptions without_machine_code(const std::vector<std::string>& words);

}  // namespace inflight::compilers
