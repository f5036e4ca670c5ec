// What the host's kernel says of this process's memory.
#pragma once
#include <cstdint>

namespace inflight::cuda {

// The bytes of memory that this process may use: the machine's, or what its control group allows.
std::uint64_t host_memory();
// What devices may take of it unless INFLIGHT_MEMORY says otherwise: the rest is the program's own.
std::uint64_t default_host_share();

struct Mapped {
  bool all = false;       // the process has every page of the range mapped readable
  bool writable = false;  // and writable
};
Mapped mapped(const void* base, std::uint64_t bytes);

}  // namespace inflight::cuda
