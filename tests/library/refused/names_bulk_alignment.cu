// Addresses with a smaller promised alignment than a bulk copy needs.
// error: pass aligned_size_t<16> or more
#include <inflight/device.cuh>

__global__ void kernel(const int* in) {
  alignas(16) __shared__ int shared[64];
  __shared__ inflight::barrier<> bar;
  inflight::device::memcpy_async_tx(shared, in, inflight::aligned_size_t<8>(256), bar);
}
