// Extents and coordinates of six dimensions.
// error: A tensor has at most five dimensions.
#include <inflight/tensor_map.cuh>

void host(float* pointer) {
  inflight::make_tensor_map(pointer, {8, 2, 2, 2, 2, 2}, {8, 1, 1, 1, 1});
}
