// async: late early shuffled:1
// Cooperative groups: tiles of more than a warp. Their barriers and slots lie in CUDA's reserved
// shared memory, or in memory that the block provides.
#include "tests/kernels/part/wide_tiles.cuh"

template <int size, bool own>
__global__ void tiles(const int* in, int* out) {
  answer<size, own>(in, out);
}

template <int size>
void play(dim3 block) {
  const int threads = block.x * block.y * block.z, blocks = 5;
  if (threads < size) return;
  Buffer<int> in(some_values(blocks * threads));
  for (const bool own : {false, true}) {
    Buffer<int> out(in.host.size() * answers);
    (own ? tiles<size, true> : tiles<size, false>)<<<blocks, block>>>(in, out);
    char what[80];
    std::snprintf(what, sizeof what, "blocks of %u x %u x %u%s", block.x, block.y, block.z,
                  own ? ", block_tile_memory" : "");
    judge(what, size, in.host, threads, out.read());
  }
}

int main() {
  for (const dim3 block : {dim3(256), dim3(1024), dim3(16, 8, 4)}) {
    play<64>(block);
    play<128>(block);
    play<256>(block);
    play<512>(block);
  }
}
