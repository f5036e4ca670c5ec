// Cooperative groups: tiles of every size, nested tiles, their ranks and collectives.
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <int size>
__device__ void tile(int*& out) {
  auto block = cg::this_thread_block();
  auto t = cg::tiled_partition<size>(block);
  int v = block.thread_rank() * 3 + 1;
  *(out += block.size()) =
      t.thread_rank() + 100 * t.meta_group_rank() + 10000 * t.meta_group_size();
  *(out += block.size()) = t.shfl(v, size - 1) + t.shfl_xor(v, size / 2);
  *(out += block.size()) = t.shfl_up(v, 1) - t.shfl_down(v, 1);
  *(out += block.size()) = t.ballot(v & 1) + t.any(v == 4) + 2 * t.all(v > 0);
  *(out += block.size()) = t.match_any(v & 6);
  t.sync();
}

__global__ void tiles(int* out) {
  out += threadIdx.x;
  *out = 0;
  tile<1>(out);
  tile<2>(out);
  tile<4>(out);
  tile<8>(out);
  tile<16>(out);
  tile<32>(out);
}

__global__ void nested(int* out) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto quad = cg::tiled_partition<4>(warp);
  auto dynamic = cg::tiled_partition(block, 8);
  int sum = quad.shfl(int(block.thread_rank()), 2) + warp.meta_group_rank() * 1000;
  out[threadIdx.x] = sum + quad.meta_group_rank() * 10000 + dynamic.thread_rank() * 1000000;
}

__global__ void indices(int* out) {
  auto block = cg::this_thread_block();
  auto i = block.thread_index();
  auto g = block.group_index();
  auto dim = block.group_dim();
  int flat = ((g.y * 2 + g.x) * dim.z * dim.y * dim.x) + block.thread_rank();
  out[flat] = i.x + 10 * i.y + 100 * i.z + 1000 * g.x + 10000 * g.y + 100000 * block.size();
}

int main() {
  Buffer<int> a(64 * 31), b(96), c(4 * 24);
  tiles<<<1, 64>>>(a);
  nested<<<1, 96>>>(b);
  indices<<<dim3(2, 2), dim3(4, 3, 2)>>>(c);
  print("tiles", a.read(), 32);
  print("nested", b.read());
  print("indices", c.read(), 12);
}
