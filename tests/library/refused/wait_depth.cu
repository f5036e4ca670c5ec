// error: A number of groups cannot be negative
// A wait with a negative number of groups.
#include <inflight/copy.cuh>
__global__ void kernel() { inflight::cp_async_wait<-1>(); }
