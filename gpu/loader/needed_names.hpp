// Wheels rename the libraries that they carry, with a hash in the name. An object that needs such a
// one is given its usual name, in memory, so that the loader takes what is there under that name.
#pragma once
#include <link.h>

namespace inflight::loader {

// Before the loader looks for what the object needs. `have` tells whether there is a library of
// ours of that name.
void restore_needed_names(const link_map& object, bool (*have)(const char* name));

}  // namespace inflight::loader
