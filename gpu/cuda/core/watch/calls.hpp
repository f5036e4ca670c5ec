// System calls on closed pages would fail (EFAULT), so the C library's functions for them are
// redirected to ours, which open the pages first. Functions that could disable the signals that
// touches raise are redirected too.
#pragma once

namespace inflight::cuda::watch {

// Redirects the calls of all objects loaded so far. Call it before pages are closed.
void prepare_calls();

}  // namespace inflight::cuda::watch
