// The effect of waits on watched pages.
#pragma once

namespace inflight::cuda::watch {

// Called when a thread of the program begins and ends a wait. In between, pages are not closed.
void begin_wait();
void end_wait();

}  // namespace inflight::cuda::watch
