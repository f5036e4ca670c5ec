// The type in angle brackets is a tile, not an element.
// error: A tile_map is for a swizzled_tile
#include <inflight/tensor_map.cuh>

struct Pair {
  using value_type = float;
};
void host(float* pointer) { inflight::make_tensor_map<Pair>(pointer, {64, 64}); }
