// Writes the results that CUjit_option lists request.
#include "gpu/cuda/driver/options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace inflight::cuda::driver {
namespace {

enum Option : int { wall_time = 2, info_log = 3, info_size = 4, error_log = 5, error_size = 6 };

void** value_of(const JitOptions& options, int option) {
  for (unsigned i = 0; i < options.count; ++i) {
    if (options.options[i] == option) return &options.values[i];
  }
  return nullptr;
}

void write_log(const JitOptions& options, int buffer_option, int size_option,
               std::string_view text) {
  void** buffer = value_of(options, buffer_option);
  void** size = value_of(options, size_option);
  if (!size) return;
  auto room = std::size_t(reinterpret_cast<std::uintptr_t>(*size) & 0xffffffff);
  std::size_t length = room ? std::min(text.size(), room - 1) : 0;
  if (buffer && *buffer && room) {
    std::copy_n(text.data(), length, static_cast<char*>(*buffer));
    static_cast<char*>(*buffer)[length] = '\0';
  }
  *size = reinterpret_cast<void*>(length);
}

}  // namespace

void write_logs(const JitOptions& options, std::string_view error) {
  if (!options.options || !options.values) return;
  write_log(options, info_log, info_size, {});
  write_log(options, error_log, error_size, error);
  if (void** time = value_of(options, wall_time)) std::memset(time, 0, sizeof(float));
}

}  // namespace inflight::cuda::driver
