// Whether this library's code or the program's raised a signal.
#pragma once

namespace inflight::host {

// Call it before the other function.
void find_own_code();
// Can be called in a signal handler, with its context. True if this library accesses memory, itself
// or by a function of the C library that keeps nothing on the stack, and not the program.
bool is_access_of_ours(const void* context);

}  // namespace inflight::host
