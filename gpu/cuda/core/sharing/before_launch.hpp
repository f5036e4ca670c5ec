// A hook before each kernel, for processes that share objects which other processes change.
#pragma once

namespace inflight::cuda {

// Calls `hook` before every kernel from now on. It is set once.
void set_launch_hook(void (*hook)());
void call_launch_hook();
bool has_launch_hook();

}  // namespace inflight::cuda
