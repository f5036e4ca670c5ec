// printf in kernels: formats and arguments lie in the memory of the calling thread.
#pragma once
#include <cstdint>
#include <string>

#include "gpu/machine/warp.hpp"

namespace inflight::machine {

struct Printed {
  std::int32_t arguments = 0;  // what CUDA's printf returns: arguments formatted; -1: no format
  std::string error;           // a sentence if a string could not be read; else empty
};

// Appends one thread's message to `out`. `arguments` is the generic address of the values, each
// aligned to its size, as CUDA passes them to vprintf.
Printed format_message(Warp& w, int lane, std::uint64_t format, std::uint64_t arguments,
                       std::string& out);

// Appends the string at a generic address, without its end mark. False if it leaves its allocation.
bool read_string(Warp& w, int lane, std::uint64_t address, std::string& out);

}  // namespace inflight::machine
