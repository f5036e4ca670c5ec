// Coalesced groups and the partitions that make them, compared with the host.
#include <inflight/groups.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

struct Seen {
  unsigned rank, size, meta_rank, meta_size;
  unsigned idx, up, down, any, all, ballot, match, match_all, same, mask;
  double wide;
};

__host__ __device__ inline unsigned key(unsigned i) { return (i * 2654435761u >> 20) % 3; }

__device__ Seen look(const cg::coalesced_group& g, unsigned t) {
  Seen s{};
  int same;
  s.rank = g.thread_rank(), s.size = g.num_threads();
  s.meta_rank = g.meta_group_rank(), s.meta_size = g.meta_group_size();
  s.idx = g.shfl(t, g.size() - 1), s.up = g.shfl_up(t, 2), s.down = g.shfl_down(t, 1);
  s.any = g.any(key(t) == 1), s.all = g.all(t < 30), s.ballot = g.ballot(key(t) == 0);
  s.match = g.match_any(key(t)), s.match_all = g.match_all(key(t) < 3, same), s.same = same;
  s.wide = g.shfl(t * 0.25, 0), s.mask = g.mask();
  g.sync();
  return s;
}

// The group of thread t, as a mask of lanes of its warp, for each way to make a group.
enum Way { gathered, label_tile, label_gathered, binary_true, tiles_of_4, from_tile, ways };

__device__ bool takes_part(int way, unsigned t) {
  return way == label_tile || way == binary_true || way == from_tile || (t % 5 != 0 && t != 31);
}

__device__ cg::coalesced_group make(int way, unsigned t) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  if (way == gathered) return cg::coalesced_threads();
  if (way == label_tile) return cg::labeled_partition(tile, int(key(t)));
  if (way == label_gathered) return cg::labeled_partition(cg::coalesced_threads(), key(t) + 7ull);
  if (way == binary_true) return cg::binary_partition(tile, key(t) == 1);
  if (way == tiles_of_4) return cg::tiled_partition(cg::coalesced_threads(), 4);
  return cg::coalesced_group(tile);
}

template <int way>
__global__ void kernel(Seen* seen) {
  if (takes_part(way, threadIdx.x)) seen[threadIdx.x] = look(make(way, threadIdx.x), threadIdx.x);
}

std::vector<unsigned> members(int way, unsigned t, unsigned& meta_rank, unsigned& meta_size) {
  bool tiles = way == label_tile || way == binary_true || way == from_tile;
  std::vector<unsigned> parent, group;
  for (unsigned i = tiles ? t / 16 * 16 : 0; i < (tiles ? t / 16 * 16 + 16 : 32); ++i)
    if (tiles || (i % 5 != 0 && i != 31)) parent.push_back(i);
  std::vector<unsigned> labels;
  unsigned rank = 0;
  for (unsigned i = 0; i < parent.size(); ++i)
    if (parent[i] == t) rank = i;
  auto label = [&](unsigned i, unsigned r) -> unsigned {
    if (way == label_tile || way == label_gathered) return key(i);
    if (way == binary_true) return key(i) == 1;
    return way == tiles_of_4 ? r / 4 : 0;
  };
  meta_rank = 0;
  for (unsigned r = 0; r < parent.size(); ++r) {
    unsigned l = label(parent[r], r);
    if (l == label(t, rank)) group.push_back(parent[r]);
    std::size_t at = 0;
    while (at < labels.size() && labels[at] != l) ++at;
    if (at == labels.size()) labels.push_back(l);
  }
  for (std::size_t at = 0; at < labels.size(); ++at)
    if (labels[at] == label(t, rank)) meta_rank = unsigned(at);
  meta_size = unsigned(labels.size());
  if (way == binary_true) meta_rank = key(t) == 1, meta_size = 2;
  if (way == from_tile) meta_rank = t / 16, meta_size = 2;
  return group;
}

template <int way>
void run(const char* name) {
  Buffer<Seen> seen(32);
  kernel<way><<<1, 32>>>(seen);
  seen.read();
  int wrong = 0;
  for (unsigned t = 0; t < 32; ++t) {
    bool tiles = way == label_tile || way == binary_true || way == from_tile;
    if (!tiles && (t % 5 == 0 || t == 31)) continue;
    Seen w{};
    auto group = members(way, t, w.meta_rank, w.meta_size);
    w.size = unsigned(group.size());
    while (group[w.rank] != t) ++w.rank;
    w.idx = group.back(), w.up = w.rank >= 2 ? group[w.rank - 2] : t;
    w.down = w.rank + 1 < w.size ? group[w.rank + 1] : t;
    w.all = 1, w.same = 1, w.wide = group[0] * 0.25;
    for (unsigned r = 0; r < w.size; ++r) {
      w.any |= key(group[r]) == 1, w.all &= group[r] < 30;
      w.ballot |= unsigned(key(group[r]) == 0) << r;
      w.match |= unsigned(key(group[r]) == key(t)) << r;
      w.match_all |= 1u << r, w.mask |= 1u << group[r];
    }
    if (std::memcmp(&w, &seen.host[t], sizeof w) != 0 && !wrong++) {
      const auto* a = reinterpret_cast<const unsigned*>(&seen.host[t]);
      const auto* b = reinterpret_cast<const unsigned*>(&w);
      for (unsigned i = 0; i < 14; ++i)
        if (a[i] != b[i]) std::printf("thread %u field %u: %u, not %u\n", t, i, a[i], b[i]);
    }
  }
  std::printf("%s: %s\n", name, wrong ? "WRONG" : "right");
}

// Aggregated atomics: the discovery pattern.
__global__ void append(int* count, int* out) {
  if (key(threadIdx.x) == 1) return;
  cg::coalesced_group g = cg::coalesced_threads();
  int at = cg::invoke_one_broadcast(g, [&] { return atomicAdd(count, int(g.num_threads())); });
  out[at + g.thread_rank()] = int(threadIdx.x);
  cg::invoke_one(
      g, [](int* p, int v) { atomicAdd(p, v); }, count + 1, 1);
}

int main() {
  run<gathered>("coalesced_threads");
  run<label_tile>("labeled_partition of tile<16>");
  run<label_gathered>("labeled_partition of a coalesced group");
  run<binary_true>("binary_partition of tile<16>");
  run<tiles_of_4>("tiled_partition of a coalesced group by 4");
  run<from_tile>("coalesced_group from tile<16>");
  Buffer<int> count(2), out(256);
  append<<<1, 256>>>(count, out);
  std::vector<int> got = out.read(), seen(256);
  bool right = true;
  int total = 0;
  for (int t = 0; t < 256; ++t) total += key(t) != 1;
  for (int i = 0; i < total; ++i) seen[got[i]]++;
  for (int t = 0; t < 256; ++t) right &= seen[t] == (key(t) != 1);
  right &= count.read()[0] == total && count.host[1] == 8;
  std::printf("aggregated append of %d: %s\n", total, right ? "right" : "WRONG");
}
