// Maps memory with guards, and looks at the guards.
#include "tests/fuzz/host_memory.hpp"

#include <sys/mman.h>

#include <cstring>

#include "tests/fuzz/reporting.hpp"

namespace inflight::fuzz {
namespace {

constexpr std::size_t guard_bytes = 1 << 16;
constexpr char guard_byte = 0x5a;

}  // namespace

HostMemory::HostMemory()
    : all_(static_cast<char*>(mmap(nullptr, bytes + 2 * guard_bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
  require(all_ != MAP_FAILED, "the host has memory");
  base_ = all_ + guard_bytes;
  std::memset(all_, guard_byte, guard_bytes);
  std::memset(base_ + bytes, guard_byte, guard_bytes);
}

std::string HostMemory::changed() const {
  for (const char* from : {all_, base_ + bytes})
    for (std::size_t i = 0; i < guard_bytes; ++i)
      if (from[i] != guard_byte)
        return "a call changed memory of the program that it was not given";
  return {};
}

}  // namespace inflight::fuzz
