// Replaces a function of a loaded library by one of ours.
#pragma once
#include <link.h>

#include <string_view>

namespace inflight::loader {

// Call it before any of the library's code runs. Changes nothing if the library does not export the
// name, or if its function is too short for a jump.
void replace_function(const link_map& library, std::string_view name, const void* with);

}  // namespace inflight::loader
