// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// software-only
// async: late early shuffled:1
// Tensor copies of four rows of a matrix (tile::gather4, tile::scatter4), and loads of a pair of
// blocks that complete on the mbarrier of one of them (.cta_group::2).
#include "tests/kernels/part/tensor.cuh"

#include "tests/kernels/kernel_test.cuh"

namespace {

using u32 = unsigned;
constexpr int rows = 32, columns = 128;  // of u16

CUtensorMap encode(void* data, CUtensorMapSwizzle swizzle, cuuint32_t box_rows) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult query;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                   &query);
  CUtensorMap map;
  const cuuint64_t dims[] = {columns, rows}, strides[] = {columns * 2};
  const cuuint32_t box[] = {64, box_rows}, steps[] = {1, 1};
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, data, dims, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::printf("encode: %d\n", result);
  return map;
}

// Gathers rows 5, 31, 40 (outside) and 2 of columns 64 to 127, and scatters them as rows 0, 9,
// 3, 1.
template <bool own>
__global__ void move(const __grid_constant__ CUtensorMap from,
                     const __grid_constant__ CUtensorMap to, unsigned short* seen) {
  __shared__ alignas(1024) unsigned short tile[256];
  __shared__ alignas(8) uint64_t bar;
  const u32 at = shared_address(tile), on = shared_address(&bar);
  if (threadIdx.x == 0) {
    init(on, 1);
    fence_async();
    expect(on, 512);
    if (own)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
          "[%0], [%1, {64, 5, 31, 40, 2}], [%2];" ::"r"(at),
          "l"(&from), "r"(on)
          : "memory");
    else
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::"
          "bytes "
          "[%0], [%1, {64, 5, 31, 40, 2}], [%2];" ::"r"(at),
          "l"(&from), "r"(on)
          : "memory");
  }
  __syncthreads();
  wait(on, 0);
  for (int i = 0; i < 8; ++i) seen[8 * threadIdx.x + i] = tile[8 * threadIdx.x + i];
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
        "[%0, {0, 0, 9, 3, 1}], [%1];" ::"l"(&to),
        "r"(at)
        : "memory");
    commit();
    wait_group<0>();
  }
}

void check(const char* name, bool swizzled, bool own) {
  std::vector<unsigned short> values(rows * columns);
  for (int i = 0; i < rows * columns; ++i) values[i] = i + 1;
  Buffer<unsigned short> from(values), to(rows * columns), seen(256);
  const auto swizzle = swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE;
  const CUtensorMap source = encode(from, swizzle, 1), target = encode(to, swizzle, 1);
  own ? move<true><<<1, 32>>>(source, target, seen) : move<false><<<1, 32>>>(source, target, seen);
  seen.read(), to.read();
  const int read[] = {5, 31, 40, 2}, written[] = {0, 9, 3, 1};
  int wrong = 0, lost = 0;
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 64; ++c) {
      const unsigned short expected = read[r] < rows ? values[read[r] * columns + 64 + c] : 0;
      const int chunk = swizzled ? c / 8 ^ r : c / 8;
      wrong += seen.host[64 * r + 8 * chunk + c % 8] != expected;
      lost += to.host[written[r] * columns + c] != expected;
    }
  int others = 0;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      others += to.host[r * columns + c] != 0 && (c >= 64 || (r > 1 && r != 3 && r != 9));
  std::printf("%-16s %d %d %d differ\n", name, wrong, lost, others);
}

// Both blocks of a pair load to themselves. The first one's mbarrier counts the bytes of both.
__global__ void __cluster_dims__(2, 1, 1) pair(const __grid_constant__ CUtensorMap map, u32* out) {
  __shared__ alignas(1024) unsigned short tile[128];
  __shared__ alignas(8) uint64_t bar;
  const u32 rank = blockIdx.x % 2, on = shared_address(&bar);
  if (threadIdx.x == 0) {
    init(on, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    if (rank == 0) expect(on, 512);
  }
  const auto meet = [] {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  };
  meet();
  u32 there, own;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(own) : "r"(on), "r"(rank));
  there = own & 0xfeffffff;
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {0, %3}], [%2];" ::"r"(shared_address(tile)),
        "l"(&map), "r"(there), "r"(2 * blockIdx.x)
        : "memory");
  if (rank == 0) wait(on, 0);
  meet();
  u32 sum = 0;
  for (int i = 0; i < 4; ++i) sum += tile[4 * threadIdx.x + i];
  atomicAdd(&out[blockIdx.x], sum);
}

}  // namespace

int main() {
  check("cluster", false, false);
  check("own", false, true);
  check("own, swizzled", true, true);
  std::vector<unsigned short> values(rows * columns, 0);
  u32 expected[4] = {};
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 64; ++c) expected[r / 2] += values[r * columns + c] = 7 * r + c;
  Buffer<unsigned short> in(values);
  Buffer<u32> out(4);
  pair<<<4, 32>>>(encode(in, CU_TENSOR_MAP_SWIZZLE_NONE, 2), out);
  out.read();
  int wrong = 0;
  for (int i = 0; i < 4; ++i) wrong += out.host[i] != expected[i];
  std::printf("pairs: %d differ\n", wrong);
}
