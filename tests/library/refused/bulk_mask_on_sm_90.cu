// arch: sm_90a
// error: Bulk stores with a byte mask need sm_100 or later
// Byte masks before sm_100.
#include <inflight/copy.cuh>
__global__ void kernel(int* out) {
  alignas(16) __shared__ int tile[4];
  inflight::bulk_store_masked(out, tile, 16, 0xff);
}
