// error: must be trivially copyable
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
struct Owner {
  int value;
  __device__ Owner(const Owner& other) : value(other.value) {}
};
__global__ void kernel(Owner* out) {
  auto tile = inflight::tiled_partition<32>(inflight::this_thread_block());
  inflight::reduce(tile, *out, [](const Owner& a, const Owner&) { return a; });
}
