// Replaces the C library's functions that start a program, so that our environment variables are
// passed on. Its other functions (execvp, posix_spawn, system...) call these.
#pragma once
#include <link.h>

namespace inflight::loader {

// Saves our variables from the initial environment of the process.
void keep_inherited_variables(const char* const* environment);
// Call it when the C library has been mapped, before any of its code runs.
void pass_variables_to_children(const link_map& c_library);

}  // namespace inflight::loader
