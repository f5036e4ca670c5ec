// Calls of the system's that are handed closed pages would fail (EFAULT), so the C library's
// functions for them are called by way of ours, which open the pages first. So are those that would
// take the signals away which touches raise.
#pragma once

namespace inflight::cuda::watch {

// For all objects that are loaded by now. Before pages are closed.
void prepare_calls();

}  // namespace inflight::cuda::watch
