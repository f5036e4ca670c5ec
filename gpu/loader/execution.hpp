// The C library's functions that start another program are replaced by ones that carry our
// variables along. All of its others (execvp, posix_spawn, system...) end in these.
#pragma once
#include <link.h>

namespace inflight::loader {

// Of the environment that this process began with.
void keep_carried(const char* const* environment);
// To be called when the C library has been mapped, before anything in it runs.
void carry_variables(const link_map& c_library);

}  // namespace inflight::loader
