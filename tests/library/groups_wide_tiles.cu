// Tiles of 64 to 512 threads, with their scratch memory in shared and in global memory, and
// without.
#include <inflight/groups.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

struct Wide {
  double a;
  int b[5];
};

// In every round a thread reads what another wrote in the round before, so a missing barrier is
// detected.
template <class Tile>
__device__ bool rounds(const Tile& tile, int* values) {
  const unsigned size = tile.num_threads(), me = tile.thread_rank();
  bool right = true;
  for (unsigned round = 0; round < 20; ++round) {
    values[me] = int(round * 1000 + me);
    tile.sync();
    right &= values[(me + 33 + round) % size] == int(round * 1000 + (me + 33 + round) % size);
    tile.sync();
  }
  return right;
}

template <unsigned Size, class Tile>
__device__ unsigned look(const Tile& tile, unsigned rank, int* values) {
  const unsigned first = rank / Size * Size;
  unsigned wrong = 0;
  wrong |= unsigned(tile.thread_rank() != rank % Size || tile.num_threads() != Size) << 0;
  wrong |= unsigned(tile.meta_group_rank() != rank / Size) << 1;
  wrong |= unsigned(tile.meta_group_size() != blockDim.x / Size || tile.size() != Size) << 2;
  wrong |= unsigned(!rounds(tile, values + first)) << 3;
  for (unsigned source : {0u, 31u, 40u, Size - 1})
    wrong |= unsigned(tile.shfl(rank, source) != first + source) << 4;
  Wide wide = tile.shfl(Wide{rank * 0.5, {1, 2, 3, 4, int(rank)}}, Size / 2);
  wrong |= unsigned(wide.a != (first + Size / 2) * 0.5 || wide.b[4] != int(first + Size / 2)) << 5;
  wrong |= unsigned(tile.any(rank == first + Size - 1) != 1 || tile.any(rank > 5000) != 0) << 6;
  wrong |= unsigned(tile.all(rank != first + 40) != 0 || tile.all(rank < 5000) != 1) << 7;
  wrong |= unsigned(cg::invoke_one_broadcast(tile, [&] { return rank; }) != first) << 8;
  return wrong;
}

template <unsigned Size>
__global__ void in_shared(unsigned* out, int* values) {
  __shared__ cg::block_tile_memory<> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<Size>(block);
  unsigned rank = block.thread_rank();
  unsigned wrong = look<Size>(tile, rank, values);
  cg::thread_block_tile<Size> untyped = tile;
  wrong |= look<Size>(untyped, rank, values);
  // Warps of a tile are ranked within it.
  auto warp = cg::tiled_partition<32>(tile);
  wrong |= unsigned(warp.meta_group_rank() != rank % Size / 32) << 9;
  wrong |= unsigned(warp.meta_group_size() != Size / 32 || warp.shfl(rank, 3) != rank / 32 * 32 + 3)
           << 10;
  out[rank] = wrong;
}

// Tiles without their own memory; a block that has some uses both, one after the other.
template <unsigned Size>
__global__ void in_reserved(unsigned* out, int* values) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<Size>(block);
  const unsigned rank = block.thread_rank();
  unsigned wrong = look<Size>(tile, rank, values);
  if (rank < blockDim.x / Size * Size / 2) {
    auto half = cg::tiled_partition < Size == 64 ? 32 : Size / 2 > (tile);
    wrong |= unsigned(half.shfl(rank, 3) != rank / half.size() * half.size() + 3) << 12;
  }
  __shared__ cg::block_tile_memory<> memory;
  wrong |= look<Size>(cg::tiled_partition<Size>(cg::this_thread_block(memory)), rank, values);
  wrong |= look<Size>(tile, rank, values);
  out[rank] = wrong;
}

__device__ cg::block_tile_memory<512> of_blocks[2];

__global__ void in_global(unsigned* out, int* values) {
  auto block = cg::this_thread_block(of_blocks[blockIdx.x]);
  out += blockIdx.x * blockDim.x, values += blockIdx.x * blockDim.x;
  unsigned rank = block.thread_rank();
  auto large = cg::tiled_partition<256>(block);
  unsigned wrong = look<256>(large, rank, values);
  // Tiles of a tile, while the neighbouring threads use the larger one.
  auto small = cg::tiled_partition<64>(large);
  if (large.meta_group_rank() == 0)
    wrong |= unsigned(small.shfl(rank, 5) != rank / 64 * 64 + 5 || small.meta_group_size() != 4)
             << 11;
  else
    wrong |= unsigned(large.shfl(rank, 200) != 456) << 11;
  out[rank] = wrong;
}

// The names from before CUDA 12.
__global__ void experimental(unsigned* out, int* values) {
  __shared__ cg::experimental::block_tile_memory<4, 256> memory;
  cg::thread_block block = cg::experimental::this_thread_block(memory);
  auto tile = cg::experimental::tiled_partition<128>(block);
  out[block.thread_rank()] = look<128>(tile, block.thread_rank(), values);
}

int main() {
  Buffer<unsigned> out(1024);
  Buffer<int> values(1024);
  auto report = [&](const char* name, unsigned threads) {
    unsigned wrong = 0;
    out.read();
    for (unsigned t = 0; t < threads; ++t) wrong |= out.host[t];
    std::printf("%s: %s %x\n", name, wrong ? "WRONG" : "right", wrong);
  };
  in_shared<64><<<1, 1024>>>(out, values), report("tile<64>, sixteen of them", 1024);
  in_shared<128><<<1, 384>>>(out, values), report("tile<128>, three of them", 384);
  in_shared<256><<<1, 1024>>>(out, values), report("tile<256>, four of them", 1024);
  in_shared<512><<<1, 512>>>(out, values), report("tile<512>, the whole block", 512);
  in_reserved<64><<<1, 1024>>>(out, values), report("tile<64>, without memory", 1024);
  in_reserved<128><<<1, 384>>>(out, values), report("tile<128>, without memory", 384);
  in_reserved<256><<<1, 1024>>>(out, values), report("tile<256>, without memory", 1024);
  in_reserved<512><<<1, 1024>>>(out, values), report("tile<512>, without memory", 1024);
  in_global<<<2, 512>>>(out, values), report("scratch in global memory, tiles of tiles", 1024);
  experimental<<<1, 256>>>(out, values), report("experimental::block_tile_memory<4, 256>", 256);
}
