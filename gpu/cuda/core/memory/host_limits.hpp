// How much memory this process may use, and whether a range is mapped.
#pragma once
#include <cstdint>

namespace inflight::cuda {

// The bytes of memory that this process may use: the machine's memory, or the limit of its control
// group.
std::uint64_t host_memory();
// The part of it that all devices together may use unless INFLIGHT_MEMORY is set. The rest is for
// the program.
std::uint64_t default_host_share();

struct Mapped {
  bool all = false;       // every page of the range is mapped readable
  bool writable = false;  // and writable
};
Mapped mapped(const void* base, std::uint64_t bytes);

}  // namespace inflight::cuda
