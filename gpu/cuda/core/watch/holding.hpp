// What a wait means for pages.
#pragma once

namespace inflight::cuda::watch {

// A thread of the program waits: pages stay as they are until it goes on.
void begin_wait();
void end_wait();

}  // namespace inflight::cuda::watch
