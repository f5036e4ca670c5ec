// Cooperative groups: reductions and scans of tiles with every operator.
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;

template <int size>
__device__ void all(long long*& out, int v) {
  auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  const int n = blockDim.x;
  *(out += n) = cg::reduce(tile, v, cg::plus<int>());
  *(out += n) = cg::reduce(tile, v, cg::less<int>());
  *(out += n) = cg::reduce(tile, v, cg::greater<int>());
  *(out += n) = cg::reduce(tile, unsigned(v), cg::bit_and<unsigned>());
  *(out += n) = cg::reduce(tile, unsigned(v), cg::bit_or<unsigned>());
  *(out += n) = cg::reduce(tile, unsigned(v), cg::bit_xor<unsigned>());
  *(out += n) = cg::reduce(tile, (long long)v << 33, cg::plus<long long>());
  *(out += n) = __double_as_longlong(cg::reduce(tile, v * 0.25, cg::plus<double>()));
  *(out += n) = __float_as_int(cg::reduce(tile, v * 0.5f, cg::greater<float>()));
  *(out += n) = cg::inclusive_scan(tile, v, cg::plus<int>());
  *(out += n) = cg::exclusive_scan(tile, v, cg::plus<int>());
  *(out += n) = cg::inclusive_scan(tile, v, cg::greater<int>());
  *(out += n) = cg::exclusive_scan(tile, unsigned(v), cg::bit_xor<unsigned>());
  *(out += n) = cg::inclusive_scan(tile, v, [](int a, int b) { return a | b; });
}

__global__ void tiles(long long* out, const int* in) {
  int v = in[threadIdx.x];
  out += threadIdx.x;
  *out = v;
  all<2>(out, v);
  all<8>(out, v);
  all<16>(out, v);
  all<32>(out, v);
}

__global__ void update(int* total, const int* in) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  __shared__ cuda::atomic<int, cuda::thread_scope_block> sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  cg::reduce_update_async(warp, sum, in[threadIdx.x], cg::plus<int>());
  __syncthreads();
  if (threadIdx.x == 0) *total = sum;
}

int main() {
  std::vector<int> in(64);
  Random random(7);
  for (int& v : in) v = int(random.next32() % 2000) - 700;
  Buffer<int> source(in), total(1);
  Buffer<long long> a(64 * 57);
  tiles<<<1, 64>>>(a, source);
  update<<<1, 64>>>(total, source);
  print("in", in);
  print("first", std::vector<long long>(a.read().begin(), a.host.begin() + 64 * 6), 16);
  print_checksum("tiles", a.host);
  print("update", total.read());
}
