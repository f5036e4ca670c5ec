// async: late early shuffled:1
// Cooperative groups: tiles of more than a warp in a cluster's blocks, each with its own reserved
// shared memory.
#include "tests/kernels/part/wide_tiles.cuh"

template <int size, bool own>
__global__ void __cluster_dims__(4, 1, 1) tiles(const int* in, int* out) {
  answer<size, own>(in, out);
  cg::this_cluster().sync();
}

template <int size>
void play() {
  const int threads = 512, blocks = 8;
  Buffer<int> in(some_values(blocks * threads));
  for (const bool own : {false, true}) {
    Buffer<int> out(in.host.size() * answers);
    (own ? tiles<size, true> : tiles<size, false>)<<<blocks, threads>>>(in, out);
    judge(own ? "clusters of 4, block_tile_memory" : "clusters of 4", size, in.host, threads,
          out.read());
  }
}

int main() {
  play<64>();
  play<128>();
  play<256>();
  play<512>();
}
