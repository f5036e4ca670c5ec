// error: An alignment is a power of two
// A promise that no address can keep.
#include <inflight/memcpy_async.cuh>
__global__ void kernel(int* out) { *out = int(inflight::aligned_size_t<12>(24)); }
