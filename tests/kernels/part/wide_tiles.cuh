// Kernels that use tiles of several warps, thread_block_tile<64> to <512>, and the expected
// results.
#pragma once
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

struct Pair {
  int low, high;
};
struct Widest {
  __host__ __device__ Pair operator()(Pair a, Pair b) const {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  }
};

// The results of every thread, in this order.
enum Answer {
  ranks,
  shfl_one,
  votes,
  sum,
  sum_float,
  sum_double,
  most,
  pairs,
  inclusive,
  exclusive,
  inclusive_most,
  exclusive_xor,
  chosen,
  chosen_count,
  mirrored,
  nested,
  answers
};
inline const char* const answer_names[] = {"ranks",
                                           "shfl",
                                           "any, all",
                                           "reduce int",
                                           "reduce float",
                                           "reduce double",
                                           "reduce max by lambda",
                                           "reduce pairs",
                                           "inclusive_scan",
                                           "exclusive_scan",
                                           "inclusive_scan by lambda",
                                           "exclusive_scan xor",
                                           "invoke_one_broadcast",
                                           "invoke_one",
                                           "sync",
                                           "nested tiles"};

// `own`: the block provides memory for its tiles, which GPUs before sm_80 need.
template <bool own>
__device__ cg::thread_block this_block() {
  if constexpr (own) {
    __shared__ cg::block_tile_memory<1024> memory;
    return cg::this_thread_block(memory);
  } else {
    return cg::this_thread_block();
  }
}

template <int size, bool own>
__device__ void answer(const int* in, int* out) {
  __shared__ int slots[1024], counts[16];
  const auto block = this_block<own>();
  const auto t = cg::tiled_partition<size>(block);
  const int me = block.thread_rank(), tile = t.meta_group_rank();
  const unsigned blocks_before = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  in += blocks_before * block.size();
  out += blocks_before * block.size() * answers + me;
  const int v = in[me];
  const auto say = [&](Answer a, int value) { out[a * block.size()] = value; };
  if (me < 16) counts[me] = 0;
  block.sync();

  say(ranks, t.thread_rank() + 1000 * t.meta_group_rank() + 100000 * t.meta_group_size() +
                 10000000 * (t.num_threads() == size));
  say(shfl_one, t.shfl(v, (tile * 37 + 5) % size));
  say(votes,
      t.any(v % size == 5) + 2 * t.all(v % size != 6) + 4 * t.any(v < 0) + 8 * t.all(v >= 0));
  say(sum, cg::reduce(t, v, cg::plus<int>()));
  say(sum_float, int(cg::reduce(t, float(v % 1024), cg::plus<float>())));
  say(sum_double, int(cg::reduce(t, double(v % 4096), cg::plus<double>())));
  const auto larger = [](int a, int b) { return a > b ? a : b; };
  say(most, cg::reduce(t, v, larger));
  const Pair pair = cg::reduce(t, Pair{v, v}, Widest());
  say(pairs, pair.low ^ pair.high * 3);
  say(inclusive, cg::inclusive_scan(t, v));
  say(exclusive, cg::exclusive_scan(t, v));
  say(inclusive_most, cg::inclusive_scan(t, v, larger));
  say(exclusive_xor, cg::exclusive_scan(t, v, cg::bit_xor<int>()));
  say(chosen, cg::invoke_one_broadcast(t, [&] { return in[tile] + 1; }));
  for (int i = 0; i < 3; ++i) cg::invoke_one(t, [&] { atomicAdd(&counts[tile], 1); });
  t.sync();
  say(chosen_count, counts[tile]);
  int seen = 0;
  for (int i = 0; i < 8; ++i) {
    slots[me] = v + i;
    t.sync();
    seen = seen * 3 + slots[tile * size + (t.thread_rank() + 17 * i + size / 2) % size];
    t.sync();
  }
  say(mirrored, seen);
  const auto half = cg::tiled_partition<size / 2>(t);
  say(nested, cg::reduce(half, v, cg::plus<int>()) + half.meta_group_rank());
}

// The same on the host for one tile of a block.
inline void expect(const int* in, int size, int threads, int tile, int* out) {
  const int* v = in + tile * size;
  int all[answers] = {}, running = 0, most_yet = v[0], running_xor = 0;
  bool some[2] = {}, every[2] = {true, true};
  Pair pair{v[0], v[0]};
  all[most] = v[0];
  for (int i = 0; i < size; ++i) {
    all[sum] += v[i], all[sum_float] += v[i] % 1024, all[sum_double] += v[i] % 4096;
    all[most] = v[i] > all[most] ? v[i] : all[most];
    pair = Widest()(pair, {v[i], v[i]});
    some[0] |= v[i] % size == 5, every[0] &= v[i] % size != 6;
    some[1] |= v[i] < 0, every[1] &= v[i] >= 0;
  }
  for (int i = 0; i < size; ++i) {
    int* to = out + tile * size + i;
    const auto say = [&](Answer a, int value) { to[a * threads] = value; };
    say(ranks, i + 1000 * tile + 100000 * (threads / size) + 10000000);
    say(shfl_one, v[(tile * 37 + 5) % size]);
    say(votes, some[0] + 2 * every[0] + 4 * some[1] + 8 * every[1]);
    for (const Answer a : {sum, sum_float, sum_double, most}) say(a, all[a]);
    say(pairs, pair.low ^ pair.high * 3);
    say(exclusive, running), say(exclusive_xor, running_xor);
    running += v[i], running_xor ^= v[i], most_yet = v[i] > most_yet ? v[i] : most_yet;
    say(inclusive, running), say(inclusive_most, most_yet);
    say(chosen, in[tile] + 1), say(chosen_count, 3);
    int seen = 0;
    for (int r = 0; r < 8; ++r) seen = seen * 3 + v[(i + 17 * r + size / 2) % size] + r;
    say(mirrored, seen);
    int half = 0;
    for (int j = 0; j < size / 2; ++j) half += v[i / (size / 2) * (size / 2) + j];
    say(nested, half + i / (size / 2));
  }
}

// Compares the results, and prints which were right.
inline void judge(const char* what, int size, const std::vector<int>& in, int threads,
                  const std::vector<int>& got) {
  const int blocks = int(in.size()) / threads;
  std::vector<int> wanted(got.size());
  for (int b = 0; b < blocks; ++b)
    for (int tile = 0; tile < threads / size; ++tile)
      expect(&in[b * threads], size, threads, tile, &wanted[b * threads * answers]);
  int wrong[answers] = {}, any = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != wanted[i]) ++wrong[i / threads % answers], ++any;
  std::printf("tiles of %d, %s: %s\n", size, what, any ? "wrong" : "all right");
  for (int a = 0; a < answers; ++a)
    if (wrong[a]) std::printf("  %s: %d wrong\n", answer_names[a], wrong[a]);
}

inline std::vector<int> some_values(std::size_t count) {
  Random random(count);
  std::vector<int> values(count);
  for (auto& v : values) v = random.next32() % 100000;
  return values;
}
