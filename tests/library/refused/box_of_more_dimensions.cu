// A box of three dimensions in a tensor of two.
// error: A box has no more dimensions than its tensor
#include <inflight/tensor_copy.cuh>

using box = inflight::swizzled_box<float, inflight::swizzle::b128, 32, 4, 2>;
bool made(float* p) { return bool(inflight::make_tensor_map<box>(p, {64, 64})); }
