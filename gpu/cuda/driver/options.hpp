// CUjit_option lists: where a program wants the compiler's words.
#pragma once
#include <string_view>

namespace inflight::cuda::driver {

// The options of one call, as the program passes them: `count` numbers and values.
struct JitOptions {
  unsigned count = 0;
  const int* options = nullptr;
  void** values = nullptr;
};

// Puts `error` into the program's error log and empties its information log, each cut to the size
// that the program gave; the sizes and the time of compilation are answered.
void write_logs(const JitOptions&, std::string_view error);

}  // namespace inflight::cuda::driver
