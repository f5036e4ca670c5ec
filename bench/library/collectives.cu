// Times collectives of NVIDIA and of Inflight in one run, in chains in which each call waits for
// the previous one, in one block. Prints cycles and nanoseconds per call (medians of 11 runs after
// 2 warm-ups) and the ratio. Each chain's first rounds are compared with the host's before timing.
//
//   nvcc -std=c++17 -O3 -arch=sm_90a -I. -Iinclude bench/library/collectives.cu -o collectives
//   collectives [ROUNDS]   (4096 calls a chain if not given)
#include "bench/library/collective_chain.cuh"

template <class T>
void tiles(const char* type) {
  compare<their_reduce<T, 8>, our_reduce<T, 8>>("cg::reduce", type);
  compare<their_reduce<T, 16>, our_reduce<T, 16>>("cg::reduce", type);
  compare<their_reduce<T, 32>, our_reduce<T, 32>>("cg::reduce", type);
  compare<their_lambda<T, 32>, our_lambda<T, 32>>("cg::reduce, a lambda", type);
  compare<their_coalesced<T, 32>, our_coalesced<T, 32>>("cg::reduce, coalesced_threads()", type);
  compare<their_scan<T, 8>, our_scan<T, 8>>("cg::inclusive_scan", type);
  compare<their_scan<T, 16>, our_scan<T, 16>>("cg::inclusive_scan", type);
  compare<their_scan<T, 32>, our_scan<T, 32>>("cg::inclusive_scan", type);
  compare<their_exclusive<T, 32>, our_exclusive<T, 32>>("cg::exclusive_scan", type);
}

template <class T, unsigned Size>
void wide_tiles(const char* type) {
  compare<their_wide_sync<T, Size, their_blocks>, our_wide_sync<T, Size, our_bare_blocks>>(
      "tile.sync, no memory", type);
  compare<their_wide_sync<T, Size, their_blocks>, our_wide_sync<T, Size, our_blocks>>(
      "tile.sync, block_tile_memory", type);
  compare<their_wide_reduce<T, Size, their_blocks>, our_wide_reduce<T, Size, our_bare_blocks>>(
      "cg::reduce, no memory", type);
  compare<their_wide_reduce<T, Size, their_blocks>, our_wide_reduce<T, Size, our_blocks>>(
      "cg::reduce, block_tile_memory", type);
  compare<their_wide_scan<T, Size, their_blocks>, our_wide_scan<T, Size, our_bare_blocks>>(
      "cg::inclusive_scan, no memory", type);
  compare<their_wide_scan<T, Size, their_blocks>, our_wide_scan<T, Size, our_blocks>>(
      "cg::inclusive_scan, block_tile_memory", type);
}

template <class T, unsigned Threads>
void blocks(const char* type) {
  compare<cub_reduce<T, Threads>, our_block_reduce<T, Threads>>("cub::BlockReduce, for thread 0",
                                                                type);
  compare<cub_reduce_all<T, Threads>, our_block_reduce<T, Threads>>("cub::BlockReduce, sent to all",
                                                                    type);
  compare<cub_scan_raking<T, Threads>, our_block_scan<T, Threads>>("cub::BlockScan, raking", type);
  compare<cub_scan_warps<T, Threads>, our_block_scan<T, Threads>>("cub::BlockScan, warp scans",
                                                                  type);
}

int main(int argc, char** argv) {
  if (argc > 1) rounds = std::atoi(argv[1]);
  cudaDeviceProp chip;
  check(cudaGetDeviceProperties(&chip, 0));
  std::printf("%s, one block; a call in cycles and ns\n", chip.name);
  std::printf("%-42s %-9s %4s %5s | %8s %8s | %8s %8s | %s\n", "NVIDIA's", "type", "thr.", "group",
              "cycles", "ns", "Inflight", "ns", "ratio");
  tiles<int>("int");
  tiles<float>("float");
  tiles<long long>("long long");
  tiles<double>("double");
  wide_tiles<int, 64>("int");
  wide_tiles<int, 256>("int");
  wide_tiles<float, 64>("float");
  wide_tiles<float, 128>("float");
  wide_tiles<float, 512>("float");
  blocks<int, 128>("int");
  blocks<int, 256>("int");
  blocks<int, 1024>("int");
  blocks<float, 128>("float");
  blocks<float, 256>("float");
  blocks<float, 512>("float");
  blocks<float, 1024>("float");
  blocks<double, 256>("double");
  blocks<double, 1024>("double");
  std::printf(all_right ? "all results right\n" : "SOME RESULTS ARE WRONG\n");
  return all_right ? 0 : 1;
}
