// error: must be trivially copyable
#include <inflight/groups.cuh>

namespace cg = inflight;

struct Owner {
  int value;
  __device__ Owner(const Owner& other) : value(other.value + 1) {}
};
__global__ void kernel(Owner* p) { cg::tiled_partition<32>(cg::this_thread_block()).shfl(*p, 0); }
