// CUjit_option lists: the buffers that a program passes for the compiler's messages.
#pragma once
#include <string_view>

namespace inflight::cuda::driver {

// The options of one call, as the program passes them: `count` numbers and values.
struct JitOptions {
  unsigned count = 0;
  const int* options = nullptr;
  void** values = nullptr;
};

// Writes `error` into the program's error log and empties its information log, each cut to the size
// of its buffer; stores the sizes and the time of compilation.
void write_logs(const JitOptions&, std::string_view error);

}  // namespace inflight::cuda::driver
