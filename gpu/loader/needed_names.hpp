// Wheels add a hash to the names of the libraries that they contain. In an object that needs such a
// library, the name is replaced in memory by the usual one, so that the dynamic loader searches for
// that.
#pragma once
#include <link.h>

namespace inflight::loader {

// Call it before the dynamic loader searches for the needed libraries. `have` returns whether we
// have a library of that name.
void restore_needed_names(const link_map& object, bool (*have)(const char* name));

}  // namespace inflight::loader
