// Tiles whose size does not divide the size of their block, so that the last one lacks threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "tests/kernels/check/check_test.cuh"

namespace cg = cooperative_groups;

template <unsigned size>
__global__ void add_up(int* out) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  // [reduce]
  out[threadIdx.x] = cg::reduce(tile, 1, cg::plus<int>());
}

template <unsigned size>
__global__ void take_last(int* out) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  // [shuffle]
  out[threadIdx.x] = tile.shfl(int(threadIdx.x), size - 1);
}

template <unsigned size>
__global__ void meet(int* out) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  // [meet]
  tile.sync();
  out[threadIdx.x] = 1;
}

// Only whole tiles take part.
__global__ void whole_tiles(int* out) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  if (tile.meta_group_rank() < block.size() / 32)
    out[threadIdx.x] = cg::reduce(tile, 1, cg::plus<int>());
  else out[threadIdx.x] = tile.thread_rank();
}

// Groups of those threads that are there.
__global__ void present(int* out) {
  const auto there = cg::coalesced_threads();
  out[threadIdx.x] = cg::reduce(there, 1, cg::plus<int>());
  out[threadIdx.x] += cg::tiled_partition(cg::coalesced_threads(), 8).size();
  const auto tiles = cg::tiled_partition(cg::this_thread_block(), 32);
  tiles.sync();
  out[threadIdx.x] += tiles.size();
}

// The mask of a warp's collective may name lanes that the block does not have.
__global__ void of_a_warp(int* out) {
  __syncwarp();
  out[threadIdx.x] = __popc(__ballot_sync(~0u, threadIdx.x % 2)) + __shfl_sync(~0u, 1, 0);
}

template <void (*kernel)(int*), unsigned threads>
void run() {
  kernel<<<1, threads>>>(Buffer<int>(128));
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<add_up<32>, 48>},
                   {"twin", run<add_up<32>, 64>},
                   {"smaller_twin", run<add_up<16>, 48>},
                   {"small", run<add_up<8>, 44>},
                   {"shuffles", run<take_last<32>, 40>},
                   {"shuffles_twin", run<take_last<8>, 40>},
                   {"meets", run<meet<32>, 33>},
                   {"meets_twin", run<meet<1>, 33>},
                   {"whole_tiles_twin", run<whole_tiles, 48>},
                   {"present_twin", run<present, 44>},
                   {"of_a_warp_twin", run<of_a_warp, 48>}});
}
