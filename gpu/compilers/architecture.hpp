// Parses the architecture and the register limit in a compiler's options.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::compilers {

// A target such as sm_90, compute_90a or sm_100f.
struct Target {
  bool machine_code = false;  // sm_
  cuda::Architecture architecture;
};
std::optional<Target> read_target(std::string_view text);

// NVRTC's options with every sm_XX replaced by compute_XX, so that it generates PTX.
struct VirtualOptions {
  std::vector<std::string> words;
  bool machine_code = false;  // the options requested machine code
  unsigned registers = 0;     // limit per thread for the machine code; 0: no limit
};
VirtualOptions without_machine_code(const std::vector<std::string>& words);

}  // namespace inflight::compilers
