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
  std::uint64_t* slots;         // target address of each island
  const char** names;           // function name of each island
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

void release(Islands* islands);

}  // namespace inflight::loader
