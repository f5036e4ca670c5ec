// An array of bytes in place of a tensor map.
// error: A tensor copy needs the address of a CUtensorMap or of an inflight::tensor_map
#include <inflight/device.cuh>

__global__ void kernel(const unsigned char* map) {
  alignas(128) __shared__ float box[256];
  inflight::device::experimental::cp_async_bulk_tensor_1d_shared_to_global(map, 0, box);
}
