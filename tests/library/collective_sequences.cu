// Consecutive collectives of tiles of 64 to 512 threads, of several sizes, types and leading
// threads, in block_tile_memory and in the reserved bytes. A collective that writes where another
// warp still reads is detected.
#include <inflight/inflight.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

struct Later {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

template <unsigned Size>
__device__ unsigned sequence(const cg::thread_block& block, unsigned round) {
  const auto tile = cg::tiled_partition<Size>(block);
  const unsigned rank = threadIdx.x % Size, first = threadIdx.x - rank, one = round * 7 % Size;
  const bool right[] = {
      cg::reduce(tile, rank + round, cg::plus<unsigned>()) == Size * (Size - 1) / 2 + Size * round,
      cg::inclusive_scan(tile, double(rank + 1)) == double(rank + 1) * (rank + 2) / 2,
      tile.shfl(threadIdx.x, one) == first + one,
      cg::reduce(tile, float(rank), cg::greater<float>()) == float(Size - 1),
      tile.any(rank == one) == 1,
      cg::exclusive_scan(tile, 1u) == rank,
      tile.shfl(threadIdx.x * 5ull, Size - 1 - one) == (first + Size - 1 - one) * 5ull,
      cg::reduce(tile, int(rank), Later()) == int(Size - 1),
      tile.all(rank != one) == 0,
  };
  tile.sync();
  unsigned wrong = 0;
  for (bool is : right) wrong += !is;
  return wrong;
}

// Without the bound it takes 124 registers a thread on sm_90, and a GPU has 64 for each of 1,024.
__global__ void __launch_bounds__(1024) sequences(unsigned* wrong, unsigned rounds) {
  __shared__ cg::block_tile_memory<> memory;
  const auto brings = cg::this_thread_block(memory), bare = cg::this_thread_block();
  unsigned errors = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    errors += sequence<64>(bare, round) + sequence<64>(brings, round);
    errors += sequence<512>(bare, round) + sequence<128>(brings, round);
    errors += sequence<256>(bare, round) + sequence<512>(brings, round);
    errors += sequence<128>(bare, round) + sequence<256>(brings, round);
  }
  if (errors) atomicAdd(wrong, errors);
}

int main() {
  Buffer<unsigned> wrong(1);
  sequences<<<4, 1024>>>(wrong, 10);
  print("results wrong", wrong.read());
}
