// tiled_partition with a size known at run time, in blocks that do not fill their warps: the last
// group has the remaining threads. Also the grid's shape in threads.
#include <inflight/groups.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

enum Parent { of_block, of_tile_32, of_tile_16, of_tile_as_group, of_group, of_coalesced, parents };
const char* const names[] = {"a block",        "a tile of 32",
                             "a tile of 16",   "a tile as thread_group",
                             "a thread_group", "a coalesced group"};

struct Seen {
  unsigned rank, size, first;
};

__host__ __device__ inline bool gathers(unsigned thread) { return thread % 5 != 1; }

__device__ cg::thread_group cut(int parent, unsigned size) {
  const auto block = cg::this_thread_block();
  if (parent == of_block) return cg::tiled_partition(block, size);
  if (parent == of_tile_32) return cg::tiled_partition(cg::tiled_partition<32>(block), size);
  if (parent == of_tile_16) return cg::tiled_partition(cg::tiled_partition<16>(block), size);
  if (parent == of_tile_as_group) {
    const cg::thread_group tile = cg::tiled_partition<32>(block);
    return cg::tiled_partition(tile, size);
  }
  if (parent == of_group) {
    const cg::thread_group half = cg::tiled_partition(block, 16);
    return cg::tiled_partition(half, size);
  }
  unsigned lanes = 0;
  const unsigned rank = block.thread_rank();
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned other = rank / 32 * 32 + lane;
    if (other < block.size() && gathers(other)) lanes |= 1u << lane;
  }
  return cg::tiled_partition(cg::coalesced_group(lanes), size);
}

__global__ void look(int parent, unsigned size, Seen* seen) {
  __shared__ unsigned firsts[1024];
  const unsigned rank = cg::this_thread_block().thread_rank();
  if (parent == of_coalesced && !gathers(rank)) return;
  const cg::thread_group group = cut(parent, size);
  firsts[rank] = 0;
  // The thread of rank 0 writes its own rank + 1 to every member's element.
  seen[rank] = {unsigned(group.thread_rank()), unsigned(group.size()), 0};
  const unsigned before = unsigned(group.thread_rank());
  if (parent != of_coalesced) {
    if (before == 0)
      for (unsigned i = 0; i < group.size(); ++i) firsts[rank + i] = rank + 1;
    cg::sync(group);
    seen[rank].first = firsts[rank];
  }
}

// The members of the parent group of thread `t`.
std::vector<unsigned> parent_of(int parent, unsigned t, unsigned threads) {
  const unsigned span = parent == of_block                           ? threads
                        : parent == of_tile_16 || parent == of_group ? 16
                                                                     : 32;
  std::vector<unsigned> members;
  for (unsigned i = t / span * span; i < threads && i < t / span * span + span; ++i)
    if (parent != of_coalesced || gathers(i)) members.push_back(i);
  return members;
}

int errors_of(int parent, dim3 shape, unsigned size) {
  const unsigned threads = shape.x * shape.y * shape.z;
  Buffer<Seen> seen(threads);
  look<<<1, shape>>>(parent, size, seen.device);
  seen.read();
  int errors = 0;
  for (unsigned t = 0; t < threads; ++t) {
    if (parent == of_coalesced && !gathers(t)) continue;
    const auto all = parent_of(parent, t, threads);
    unsigned place = 0;
    while (all[place] != t) ++place;
    const unsigned start = place / size * size;
    const unsigned left = unsigned(all.size()) - start;
    const Seen& got = seen.host[t];
    errors += got.rank != place - start;
    errors += got.size != (left < size ? left : size);
    if (parent != of_coalesced) errors += got.first != all[start] + 1;
  }
  return errors;
}

struct Places {
  dim3 at, shape;
};
__global__ void places(Places* all) {
  const auto grid = cg::this_grid();
  all[grid.thread_rank()] = {grid.thread_index(), grid.dim_threads()};
}

int errors_of_grid(dim3 grid, dim3 block) {
  const unsigned count = grid.x * grid.y * grid.z * block.x * block.y * block.z;
  Buffer<Places> all(count);
  places<<<grid, block>>>(all.device);
  all.read();
  const dim3 shape(grid.x * block.x, grid.y * block.y, grid.z * block.z);
  int errors = 0;
  for (unsigned z = 0; z < shape.z; ++z)
    for (unsigned y = 0; y < shape.y; ++y)
      for (unsigned x = 0; x < shape.x; ++x) {
        const unsigned in_grid = x / block.x + grid.x * (y / block.y + grid.y * (z / block.z));
        const unsigned in_block = x % block.x + block.x * (y % block.y + block.y * (z % block.z));
        const Places& got = all.host[in_grid * (block.x * block.y * block.z) + in_block];
        errors += got.at.x != x || got.at.y != y || got.at.z != z;
        errors += got.shape.x != shape.x || got.shape.y != shape.y || got.shape.z != shape.z;
      }
  return errors;
}

int main() {
  for (int parent = 0; parent < parents; ++parent) {
    int errors = 0;
    for (dim3 shape : {dim3(40), dim3(1), dim3(33), dim3(64), dim3(7, 9), dim3(5, 3, 3),
                       dim3(3, 11, 5), dim3(1000)})
      for (unsigned size = 1; size <= 32; size *= 2) errors += errors_of(parent, shape, size);
    std::printf("tiled_partition of %s: %s\n", names[parent], errors == 0 ? "right" : "wrong");
  }
  int errors = errors_of_grid(dim3(3), dim3(5)) + errors_of_grid(dim3(2, 3, 4), dim3(4, 3, 2));
  std::printf("the grid in threads: %s\n", errors == 0 ? "right" : "wrong");
}
