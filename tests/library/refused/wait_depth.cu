// error: A number of groups cannot be negative
// A wait for fewer groups than none.
#include <inflight/copy.cuh>
__global__ void kernel() { inflight::cp_async_wait<-1>(); }
