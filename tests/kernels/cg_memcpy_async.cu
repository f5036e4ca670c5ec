// arch: sm_80
// cooperative_groups::memcpy_async by blocks and by tiles, with odd lengths, wait and
// wait_prior.
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

__global__ void by_block(int* out, const int* in, int n) {
  extern __shared__ int tile[];
  auto block = cg::this_thread_block();
  int sum = 0;
  for (int at = 0; at < n; at += 200) {
    int count = n - at < 200 ? n - at : 200;
    cg::memcpy_async(block, tile, in + at, sizeof(int) * count);
    cg::wait(block);
    for (int i = 0; i < count; ++i) sum += tile[i] * (threadIdx.x + 1);
    block.sync();
  }
  out[threadIdx.x] = sum;
}

__global__ void two_stages(int* out, const int* in, int n) {
  __shared__ __align__(16) int tile[2][128];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile[0], in, cuda::aligned_size_t<16>(512));
  int stage = 0, sum = 0;
  for (int at = 128; at < n; at += 128, stage ^= 1) {
    cg::memcpy_async(block, tile[stage ^ 1], in + at, cuda::aligned_size_t<16>(512));
    cg::wait_prior<1>(block);
    sum = sum * 3 + tile[stage][threadIdx.x ^ 1];
    block.sync();
  }
  cg::wait(block);
  out[threadIdx.x] = sum * 3 + tile[stage][threadIdx.x ^ 1];
}

__global__ void by_tile(short* out, const short* in) {
  __shared__ short tile[4][100];
  auto block = cg::this_thread_block();
  auto part = cg::tiled_partition<32>(block);
  int p = part.meta_group_rank();
  cg::memcpy_async(part, tile[p], in + p * 100, sizeof(short) * (97 + p));
  cg::wait(part);
  for (int i = part.thread_rank(); i < 97 + p; i += 32) out[p * 100 + i] = tile[p][96 + p - i];
}

int main() {
  std::vector<int> in(1280);
  Random random(8);
  for (int& v : in) v = random.next32() % 1000;
  std::vector<short> shorts(in.begin(), in.begin() + 400);
  Buffer<int> source(in), a(64), b(128);
  Buffer<short> s(shorts), c(400);
  by_block<<<1, 64, 200 * sizeof(int)>>>(a, source, 1111);
  two_stages<<<1, 128>>>(b, source, 1280);
  by_tile<<<1, 128>>>(c, s);
  print("by_block", a.read());
  print("two_stages", b.read());
  print_checksum("by_tile", c.read());
}
