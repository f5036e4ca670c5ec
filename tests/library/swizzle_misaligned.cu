// arch: sm_90a
// stderr: a swizzled_tile must be at a multiple of its alignment
// A tile in dynamic shared memory at an address below its alignment. A copy into it fails with a
// message, also at multiples of 128 bytes, which the chip itself would accept.
#include "tests/library/tensors.cuh"

using tile = inflight::swizzled_tile<float, 8, 32, inflight::swizzle::b128>;

__global__ void load(const __grid_constant__ inflight::tile_map<tile> map, unsigned past,
                     int* done) {
  extern __shared__ uint4 memory[];
  __shared__ inflight::barrier<> ready;
  const unsigned begin = (inflight::ptx::shared_address(memory) + 1023) & ~1023u;
  auto& box = *static_cast<tile*>(__cvta_shared_to_generic(begin + past));
  if (threadIdx.x == 0) ready.init(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    inflight::transaction copies(ready);
    inflight::copy_async(box, map, {0, 0}, copies);
    copies.arrive();
  }
  ready.wait_parity(0);
  if (threadIdx.x == 0) *done = int(box(7, 31));
}

int main() {
  Buffer<float> in(numbered<float>(8 * 32));
  Buffer<int> done(1);
  const auto map = good(inflight::make_tensor_map<tile>(in.device, {32, 8}));
  load<<<1, 32, 4096>>>(map, 1024, done.device);
  std::printf("aligned: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  verdict("its last element", done.read()[0] == int(in.host.back()));
  load<<<1, 32, 4096>>>(map, 128, done.device);
  std::printf("not aligned: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
