// Finds symbols that a loaded library exports, in its tables in memory.
#pragma once
#include <link.h>

#include <string_view>

namespace inflight::loader {

// Null if the library does not export the name.
const Elf64_Sym* exported_symbol(const link_map& library, std::string_view name);
void* exported(const link_map& library, std::string_view name);

}  // namespace inflight::loader
