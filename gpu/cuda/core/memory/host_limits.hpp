// How much memory this process may use, and which of it is mapped.
#pragma once
#include <cstdint>

namespace inflight::cuda {

// The bytes of memory that this process may use: the machine's, or what its control group allows.
std::uint64_t host_memory();
// How much of it devices may use together unless INFLIGHT_MEMORY is set; the rest is for the
// program.
std::uint64_t default_host_share();

struct Mapped {
  bool all = false;       // the process has every page of the range mapped readable
  bool writable = false;  // and writable
};
Mapped mapped(const void* base, std::uint64_t bytes);

}  // namespace inflight::cuda
