// arch: sm_90a
// One block of a cluster loads a box for several: tiles and im2col columns, with and without an L2
// policy. Each block waits at its own barrier for all bytes sent to it.
#include <inflight/cluster_group.cuh>

#include "tests/library/tensors.cuh"

namespace {

using tile = inflight::swizzled_tile<float, 8, 32, inflight::swizzle::b128>;
constexpr int blocks = 4;

// Block r loads the box at row 8 r for the blocks in `ranks[r]`, into box[r] of each.
template <bool Hint>
__global__ void __cluster_dims__(blocks)
    tiles(const __grid_constant__ inflight::tensor_map map, At ranks, float* out) {
  auto cluster = inflight::this_cluster();
  const unsigned rank = cluster.block_rank();
  __shared__ tile box[blocks];
  __shared__ inflight::barrier<> ready;
  for (unsigned i = threadIdx.x; i < sizeof box; i += blockDim.x) box[0].bytes[i] = 0;
  if (threadIdx.x == 0) ready.init(1);
  inflight::release_to_async();
  cluster.sync();
  if (threadIdx.x == 0) {
    inflight::transaction mine(ready);
    for (int r = 0; r < blocks; ++r)
      if (ranks.value[r] >> rank & 1) mine.expect(tile::transaction_bytes);
    mine.arrive();
    const auto to = static_cast<std::uint16_t>(ranks.value[rank]);
    if constexpr (Hint)
      inflight::multicast_async(box[rank], map, {0, 8 * rank}, ready, to, evict_first());
    else
      inflight::multicast_async(box[rank], map, {0, 8 * rank}, ready, to);
  }
  ready.wait_parity(0);
  for (int i = threadIdx.x; i < blocks * 8 * 32; i += blockDim.x)
    out[rank * blocks * 8 * 32 + i] = box[i / 256](i / 32 % 8, i % 32);
  cluster.sync();
}

template <bool Hint>
void test_tiles(const char* what) {
  Buffer<float> tensor(numbered<float>(32 * 8 * blocks)), out(blocks * blocks * 256);
  const At ranks = {{0b1111, 0b0110, 0b0001, 0b1000}};
  const auto map = good(inflight::make_tensor_map<tile>(tensor, {32, 8 * blocks}));
  tiles<Hint><<<blocks, 64>>>(map, ranks, out.device);
  out.read();
  bool right = true;
  for (int block = 0; block < blocks; ++block)
    for (int place = 0; place < blocks; ++place)
      for (int i = 0; i < 256; ++i) {
        const float wanted = ranks.value[place] >> block & 1 ? tensor.host[place * 256 + i] : 0.0f;
        right &= out.host[(block * blocks + place) * 256 + i] == wanted;
      }
  verdict(what, right);
}

template <bool Hint>
__global__ void __cluster_dims__(blocks)
    columns(const __grid_constant__ inflight::tensor_map map, int* out) {
  auto cluster = inflight::this_cluster();
  const unsigned rank = cluster.block_rank();
  alignas(128) __shared__ int box[32];
  __shared__ inflight::barrier<> ready;
  if (threadIdx.x == 0) {
    ready.init(1);
    inflight::transaction mine(ready);
    mine.expect(sizeof box);
    mine.arrive();
  }
  cluster.sync();
  if (rank == 2 && threadIdx.x == 0) {
    if constexpr (Hint)
      inflight::multicast_im2col_async(box, map, {0, 3, 1}, {1}, ready.native(), 0b1111,
                                       evict_first());
    else
      inflight::multicast_im2col_async(box, map, {0, 3, 1}, {1}, ready.native(), 0b1111);
  }
  ready.wait_parity(0);
  out[rank * 32 + threadIdx.x] = box[threadIdx.x];
  cluster.sync();
}

template <bool Hint>
void test_columns(const char* what) {
  Buffer<int> tensor(numbered<int>(4 * 16 * 2)), out(blocks * 32);
  const auto map =
      good(inflight::make_im2col_tensor_map(tensor.device, {4, 16, 2}, {{0}, {0}, 4, 8}));
  columns<Hint><<<blocks, 32>>>(map, out.device);
  out.read();
  bool right = true;
  for (int i = 0; i < blocks * 32; ++i)
    right &= out.host[i] == tensor.host[4 * (16 + 3 + 1) + i % 32];
  verdict(what, right);
}

}  // namespace

int main() {
  test_tiles<false>("tiles");
  test_tiles<true>("tiles, with a policy");
  test_columns<false>("columns");
  test_columns<true>("columns, with a policy");
}
