// CUjit_option lists, and the buffers for the compiler's messages in them.
#pragma once
#include <string_view>

namespace inflight::cuda::driver {

// The options of one call, as the program passes them: `count` numbers and values.
struct JitOptions {
  unsigned count = 0;
  const int* options = nullptr;
  void** values = nullptr;
};

// Writes `error` to the program's error log, truncated to the buffer's size, and empties its
// information log. Stores both sizes, and a compilation time of 0.
void write_logs(const JitOptions&, std::string_view error);

}  // namespace inflight::cuda::driver
