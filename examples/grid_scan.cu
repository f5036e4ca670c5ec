// Prefix sums of any number of ints at the speed of memory, reading them once. In each turn the
// blocks of the grid take neighbouring tiles, which bulk copies have brought two turns ahead. A
// block adds up its next tile and publishes the sum before it scans this one, so the sums of all
// tiles before this one are there when it asks, and no block waits for another's scan.
#include <inflight/collective_scratch.cuh>
#include <inflight/copy.cuh>
#include <inflight/dynamic_shared.cuh>
#include <inflight/groups.cuh>
#include <inflight/launch.cuh>
#include <inflight/ptx/memory.cuh>
#include <inflight/reduce.cuh>
#include <inflight/scan.cuh>
#include <numeric>

#include "examples/measure.cuh"

namespace {

namespace ptx = inflight::ptx;
constexpr auto gpu = ptx::scope::gpu;
constexpr int threads = 512, vectors = 4, stages = 3, warp_ints = 32 * 4 * vectors,
              tile_ints = threads * 4 * vectors;

struct sums {
  int before, all;
};
struct add {
  __device__ sums operator()(sums a, sums b) const { return {a.before + b.before, a.all + b.all}; }
};
struct storage {
  alignas(128) int tile[stages][tile_ints];
  inflight::barrier<> ready[stages];
  inflight::block_scratch<sums, threads> scratch;
};

// A published sum: the low half, beside a word that says that it is one. So no fence is needed.
constexpr std::uint64_t published = 1ull << 32;

// Calls f(element, its index) for those of a thread's elements that exist.
template <class F>
__device__ void each_of(int4 (&x)[vectors], std::size_t first, std::size_t n, F f) {
#pragma unroll
  for (int i = 0; i < vectors; ++i) {
    const std::size_t at = first + i * 128;
    if (at < n) f(x[i].x, at);
    if (at + 1 < n) f(x[i].y, at + 1);
    if (at + 2 < n) f(x[i].z, at + 2);
    if (at + 3 < n) f(x[i].w, at + 3);
  }
}

// All blocks run at once, and each takes every gridDim.x-th tile.
__global__ void __launch_bounds__(threads)
    scan(int* out, const int* in, std::size_t n, std::uint64_t* sum_of_tile) {
  auto& shared = inflight::dynamic_shared<storage>();
  auto block = inflight::this_thread_block();
  auto warp = inflight::tiled_partition<32>(block);
  const int blocks = int(gridDim.x), tiles = int((n + tile_ints - 1) / tile_ints);
  const auto tile_of = [=](int turn) { return turn * blocks + int(blockIdx.x); };
  const auto is_whole = [=](int tile) { return (std::size_t(tile) + 1) * tile_ints <= n; };
  const auto fetch = [&](int turn) {
    const int tile = tile_of(turn), stage = turn % stages;
    if (threadIdx.x != 0 || !is_whole(tile)) return;
    inflight::transaction copies(shared.ready[stage]);
    copies.load(shared.tile[stage], in + std::size_t(tile) * tile_ints, sizeof shared.tile[stage]);
    copies.arrive();
  };
  if (threadIdx.x == 0)
    for (auto& ready : shared.ready) ready.init(1);
  for (int turn = 0; turn < stages; ++turn) fetch(turn);
  auto team = inflight::with_scratch(block, shared.scratch);

  // The vectors of a warp lie side by side.
  const int in_tile = int(warp.meta_group_rank()) * warp_ints + int(warp.thread_rank()) * 4;
  const auto first_of = [=](int turn) { return std::size_t(tile_of(turn)) * tile_ints + in_tile; };
  const auto load = [&](int4(&x)[vectors], int turn) {
    if (is_whole(tile_of(turn))) {
      shared.ready[turn % stages].wait_parity(turn / stages % 2);
#pragma unroll
      for (int i = 0; i < vectors; ++i)
        x[i] = reinterpret_cast<const int4&>(shared.tile[turn % stages][in_tile + i * 128]);
    } else {
      for (int4& v : x) v = {};
      each_of(x, first_of(turn), n, [&](int& element, std::size_t at) { element = in[at]; });
    }
  };
  const auto publish_sum = [&](int turn) {
    if (tile_of(turn) >= tiles) return;
    int4 x[vectors];
    load(x, turn);
    int sum = 0;
    for (int4 v : x) sum += (v.x + v.y) + (v.z + v.w);
    sum = inflight::reduce(team, sum, inflight::plus<int>());
    if (threadIdx.x == 0)
      ptx::st_relaxed<gpu>(sum_of_tile + tile_of(turn), published | unsigned(sum));
  };

  publish_sum(0);
  int before_turn = 0;
  for (int turn = 0; tile_of(turn) < tiles; ++turn) {
    publish_sum(turn + 1);
    sums of_turn = {};
    for (int of = int(threadIdx.x); of < blocks && turn * blocks + of < tiles; of += threads) {
      std::uint64_t seen;
      do seen = ptx::ld_relaxed<gpu>(sum_of_tile + turn * blocks + of);
      while (seen < published);
      const int sum = int(unsigned(seen));
      of_turn = add{}(of_turn, {of < int(blockIdx.x) ? sum : 0, sum});
    }
    of_turn = inflight::reduce(team, of_turn, add{});

    int4 x[vectors];
    load(x, turn);
    int sum_of_warp = 0;
#pragma unroll
    for (int4& v : x) {
      v.y += v.x, v.z += v.y, v.w += v.z;
      const int upto = inflight::inclusive_scan(warp, v.w);
      const int from = sum_of_warp + upto - v.w;
      v = {v.x + from, v.y + from, v.z + from, v.w + from};
      sum_of_warp += warp.shfl(upto, 31);
    }
    // Rank 0 of each warp brings the warp's sum, and gets that of the warps before it.
    const int mine = warp.thread_rank() == 0 ? sum_of_warp : 0;
    const int before_warp = warp.shfl(inflight::exclusive_scan(team, mine), 0);
    fetch(turn + stages);  // all threads have read this tile: the scan is a barrier
    const int from = before_turn + of_turn.before + before_warp;
    before_turn += of_turn.all;
#pragma unroll
    for (int4& v : x) v = {v.x + from, v.y + from, v.z + from, v.w + from};
    const std::size_t first = first_of(turn);
    if (is_whole(tile_of(turn)))
#pragma unroll
      for (int i = 0; i < vectors; ++i) __stcs(reinterpret_cast<int4*>(out + first) + i * 32, x[i]);
    else
      each_of(x, first, n, [&](int element, std::size_t at) { out[at] = element; });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = measures(argc, argv) ? std::size_t{1} << 28 : 1000003;
  std::vector<int> values(n), wanted(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = int(unsigned(i * 2654435761u) >> 20) - 2048;
  std::partial_sum(values.begin(), values.end(), wanted.begin(),
                   [](int a, int b) { return int(unsigned(a) + unsigned(b)); });
  int *in = device_copy(values), *out = device_copy(std::vector<int>(n));
  const unsigned tiles = unsigned((n + tile_ints - 1) / tile_ints);
  std::uint64_t* sum_of_tile;
  CHECK(cudaMalloc(&sum_of_tile, tiles * sizeof *sum_of_tile));
  constexpr std::size_t shared = inflight::dynamic_shared_bytes<storage>();
  const auto run = [&] {
    CHECK(cudaMemsetAsync(sum_of_tile, 0, tiles * sizeof *sum_of_tile));
    CHECK(inflight::launch_cooperative(scan, inflight::whole_device, threads, shared, nullptr, out,
                                       in, n, sum_of_tile));
  };
  const double seconds = seconds_of(run);
  const bool right = host_copy(out, n) == wanted;
  if (measures(argc, argv)) measure_beside_copy("scan", out, in, n * sizeof(int), run);
  return report("prefix sums, read once", 8.0 * n, seconds, right) ? 0 : 1;
}
