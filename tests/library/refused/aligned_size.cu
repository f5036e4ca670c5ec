// error: An alignment is a power of two
// An alignment that no address can have.
#include <inflight/memcpy_async.cuh>
__global__ void kernel(int* out) { *out = int(inflight::aligned_size_t<12>(24)); }
