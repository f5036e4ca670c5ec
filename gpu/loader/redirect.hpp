// Redirects the static CUDA runtime inside an object that has just been mapped: a jump at the entry
// of each public function, to an island that goes on to the function of the same name in ours.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/loader/static_runtime.hpp"

namespace inflight::loader {

// The islands of one object and what they go on to, in pages of their own.
struct Islands {
  Islands* next;
  const void* object;  // whose functions were redirected
  unsigned major;      // of the CUDA release whose runtime serves them
  std::uint64_t start, bytes;
  std::uint64_t count;
  std::uint64_t* slots;         // where each island jumps
  const char** names;           // of the function that each stands for
  std::uint64_t owner, binder;  // the words of the islands' common part
};

// An object in this process's memory, and its file.
struct MappedObject {
  const ElfView& elf;
  std::uint64_t base = 0;  // what is added to the file's addresses
  const void* identity = nullptr;
};

struct Redirected {
  Islands* islands = nullptr;
  std::string_view failure;  // why nothing was changed; empty if all was
};

// `binder` is entered as jump.hpp says when a function is called for the first time. The runtime's
// internal functions, which nothing of ours calls, are made to return at once: its constructors and
// destructors are among them.
Redirected redirect(const MappedObject& object, const StaticRuntime& runtime, std::uint64_t binder);

void release(Islands* islands);

}  // namespace inflight::loader
