// The groups that a launch defines, the general thread_group, and the members as functions.
#include <inflight/groups.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

__device__ bool same(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Counts the threads for which a property does not hold.
__global__ void shapes(unsigned* wrong) {
  auto block = cg::this_thread_block();
  auto grid = cg::this_grid();
  unsigned rank = threadIdx.x + 4 * (threadIdx.y + 3 * threadIdx.z);
  unsigned at = blockIdx.x + 3 * (blockIdx.y + 2 * blockIdx.z);
  const bool holds[] = {
      block.thread_rank() == rank,
      block.num_threads() == 24 && block.size() == 24,
      same(block.group_index(), blockIdx) && same(block.thread_index(), threadIdx),
      same(block.dim_threads(), blockDim) && same(block.group_dim(), blockDim),
      grid.thread_rank() == at * 24 + rank,
      grid.num_threads() == 12 * 24 && grid.size() == 12 * 24,
      grid.block_rank() == at && grid.num_blocks() == 12,
      same(grid.dim_blocks(), gridDim) && same(grid.group_dim(), gridDim),
      same(grid.block_index(), blockIdx),
      cg::thread_rank(grid) == grid.thread_rank() && cg::group_size(block) == 24,
  };
  static_assert(sizeof(grid.thread_rank()) == 8 && sizeof(block.thread_rank()) == 4,
                "ranks in a grid have 64 bits");
  for (int i = 0; i < int(sizeof holds); ++i)
    if (!holds[i]) atomicAdd(&wrong[i], 1);
}

// Sums over any group, in a function that takes the general type.
__device__ int sum(cg::thread_group g, int* scratch, int value) {
  int rank = int(g.thread_rank());
  scratch[rank] = value;
  for (int half = int(g.num_threads()) / 2; half > 0; half /= 2) {
    g.sync();
    if (rank < half) scratch[rank] += scratch[rank + half];
  }
  g.sync();
  int result = scratch[0];
  g.sync();
  return result;
}

__global__ void sums(int* out) {
  __shared__ int scratch[128];
  auto block = cg::this_thread_block();
  int me = int(block.thread_rank());
  out[me] = sum(block, scratch, me);
  for (unsigned size : {1u, 2u, 4u, 8u, 16u, 32u}) {
    cg::thread_group tile = cg::tiled_partition(block, size);
    out += 128;
    out[me] = sum(tile, scratch + me / size * size, me);
  }
  auto warp = cg::tiled_partition<32>(block);
  out += 128;
  out[me] = sum(warp, scratch + me / 32 * 32, me);
  auto eight = cg::tiled_partition(warp, 8);
  out += 128;
  out[me] = sum(eight, scratch + me / 8 * 8, me);
  cg::thread_group two = cg::tiled_partition(cg::thread_group(eight), 2);
  out += 128;
  out[me] = sum(two, scratch + me / 2 * 2, me);
  out += 128;
  if (me % 4 < 2) {
    cg::thread_group pairs = cg::coalesced_threads();
    out[me] = sum(pairs, scratch + me / 32 * 32, me);
  }
}

// Every group except wide tiles is a thread_group.
__device__ void meet(cg::thread_group& group) { group.sync(); }

// A block's barrier, whole and in halves, and invoke_one.
__global__ void neighbours(int* out) {
  __shared__ int values[64];
  auto block = cg::this_thread_block();
  unsigned me = block.thread_rank();
  values[me] = int(me);
  auto warp = cg::tiled_partition<32>(block);
  meet(warp);
  meet(block);
  cg::sync(block);
  int sum = values[63 - me];
  auto token = block.barrier_arrive();
  block.barrier_wait(static_cast<decltype(token)&&>(token));
  cg::invoke_one(
      block, [&](int add) { values[5] += add; }, 1000);
  block.sync();
  out[me] = sum + values[5];
}

int main() {
  Buffer<unsigned> wrong(10);
  shapes<<<dim3(3, 2, 2), dim3(4, 3, 2)>>>(wrong);
  print("threads for which a member was wrong", wrong.read());

  Buffer<int> out(11 * 128);
  sums<<<1, 128>>>(out);
  out.read();
  const unsigned sizes[] = {128, 1, 2, 4, 8, 16, 32, 32, 8, 2};
  for (int way = 0; way < 10; ++way) {
    bool right = true;
    for (unsigned t = 0; t < 128; ++t) {
      int wanted = 0;
      for (unsigned i = t / sizes[way] * sizes[way], n = 0; n < sizes[way]; ++n)
        wanted += int(i + n);
      right &= out.host[way * 128 + t] == wanted;
    }
    std::printf("thread_group of %u threads: %s\n", sizes[way], right ? "right" : "WRONG");
  }
  bool right = true;
  for (unsigned t = 0; t < 128; ++t) {
    int wanted = 0;
    for (unsigned i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) wanted += i % 4 < 2 ? int(i) : 0;
    right &= out.host[10 * 128 + t] == (t % 4 < 2 ? wanted : 0);
  }
  std::printf("thread_group of coalesced threads: %s\n", right ? "right" : "WRONG");

  Buffer<int> met(64);
  neighbours<<<1, 64>>>(met);
  right = true;
  for (int t = 0; t < 64; ++t) right &= met.read()[t] == 63 - t + 1005;
  std::printf("barriers of a block: %s\n", right ? "right" : "WRONG");
}
