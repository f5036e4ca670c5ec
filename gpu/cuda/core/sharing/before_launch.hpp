// A hook before each kernel, for processes that share objects which other processes change.
#pragma once

namespace inflight::cuda {

// Calls `look` before every kernel from now on. It is set once.
void look_before_launches(void (*look)());
void look_before_launch();

}  // namespace inflight::cuda
