// What this process looks after before a kernel begins, once it shares things that other processes
// change.
#pragma once

namespace inflight::cuda {

// From now on `look` is called before every kernel. It is set once.
void look_before_launches(void (*look)());
void look_before_launch();

}  // namespace inflight::cuda
