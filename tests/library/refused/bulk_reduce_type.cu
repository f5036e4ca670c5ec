// error: No bulk reduction of this operation and type to global memory
// A minimum of floats, which PTX does not have.
#include <inflight/copy.cuh>
__global__ void kernel(float* out) {
  alignas(16) __shared__ float shared[4];
  inflight::bulk_reduce<inflight::reduction_op::min>(out, shared, sizeof shared);
}
