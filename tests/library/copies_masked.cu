// arch: sm_100
// Bulk stores of some bytes of every 16, with and without an L2 policy.
#include <inflight/cache_policy.cuh>
#include <inflight/copy.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int bytes = 256;

__global__ void store(unsigned char* out, std::uint16_t mask, bool hinted) {
  alignas(16) __shared__ unsigned char tile[bytes];
  for (int i = threadIdx.x; i < bytes; i += blockDim.x) tile[i] = static_cast<unsigned char>(i);
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (hinted)
    inflight::bulk_store_masked(out, tile, bytes, mask,
                                inflight::cache_policy<inflight::l2_priority::first>());
  else
    inflight::bulk_store_masked(out, tile, bytes, mask);
  inflight::bulk_commit();
  inflight::bulk_wait();
}

}  // namespace

int main() {
  for (const unsigned mask : {0x0000u, 0x0001u, 0x8000u, 0x5aa5u, 0xffffu})
    for (const bool hinted : {false, true}) {
      Buffer<unsigned char> out(std::vector<unsigned char>(bytes, 0xee));
      store<<<1, 32>>>(out.device, static_cast<std::uint16_t>(mask), hinted);
      out.read();
      int wrong = 0;
      for (int i = 0; i < bytes; ++i)
        wrong += out.host[i] != (mask >> i % 16 & 1 ? static_cast<unsigned char>(i) : 0xee);
      std::printf("%04x%s: %d wrong\n", mask, hinted ? ", a policy" : "", wrong);
    }
}
