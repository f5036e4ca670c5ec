// Redirects the static CUDA runtime in an object that has just been mapped. A jump at the entry of
// each public function leads to an island, which continues to the function of the same name in our
// runtime.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/loader/static_runtime.hpp"

namespace inflight::loader {

// The islands of one object and their targets, in separate pages.
struct Islands {
  Islands* next;
  const void* object;  // the object whose functions were redirected
  unsigned major;      // major version of the CUDA runtime that replaces it
  std::uint64_t start, bytes;
  std::uint64_t count;
  std::uint64_t* slots;         // where each island jumps
  std::uint64_t* targets;       // the function of each island that tells it who was called
  const char** names;           // function name of each island
  std::uint64_t mark;           // of the thread's word that tells it (jump.hpp)
  std::uint32_t copy;           // the number of this runtime, from 1
  std::uint64_t owner, binder;  // words that common_part() reads
};

// An object in the memory of this process, and its file.
struct MappedObject {
  const ElfView& elf;
  std::uint64_t base = 0;  // load address minus file address
  const void* identity = nullptr;
};

struct Redirected {
  Islands* islands = nullptr;
  std::string_view failure;  // why nothing was changed; empty on success
};

// The first call of a function enters `binder` as described in jump.hpp. The internal functions of
// the replaced runtime, including its constructors and destructors, are patched to return
// immediately.
Redirected redirect(const MappedObject& object, const StaticRuntime& runtime, std::uint64_t binder);

// The first byte of an island.
std::uint64_t island_address(const Islands& islands, std::uint64_t index);

void release(Islands* islands);

}  // namespace inflight::loader
