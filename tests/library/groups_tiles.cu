// Tiles of 1 to 32 threads: ranks, shuffles of all widths, votes and matches, compared with the
// host.
#include <inflight/groups.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

constexpr int threads = 96;

struct Wide {
  double a;
  float b[3];
  short c;
  char d;
};
struct Odd {
  char bytes[7];
};

__host__ __device__ inline Wide wide(int i) {
  return {i * 0.5, {i + 1.f, i * 2.f, -3.f * i}, short(i * 7), char(i)};
}
__host__ __device__ inline bool same(const Wide& a, const Wide& b) {
  return a.a == b.a && a.b[0] == b.b[0] && a.b[1] == b.b[1] && a.b[2] == b.b[2] && a.c == b.c &&
         a.d == b.d;
}
__host__ __device__ inline unsigned key(unsigned i) { return (i * 2654435761u >> 20) % 3; }

// The results of thread t, in the same order on host and device.
struct Seen {
  unsigned rank, size, meta_rank, meta_size;
  unsigned idx, up, down, exclusive_or;
  int any, all, some;
  unsigned ballot, match, match_wide, all_equal, all_differ;
  int equal, differ;
  unsigned wide_right;
};

template <unsigned Size, class Tile>
__device__ Seen look(const Tile& tile, unsigned t) {
  Seen s;
  s.rank = tile.thread_rank(), s.size = tile.size();
  s.meta_rank = tile.meta_group_rank(), s.meta_size = tile.meta_group_size();
  s.idx = tile.shfl(t * 3, Size / 2), s.up = tile.shfl_up(t, 1), s.down = tile.shfl_down(t, 2);
  s.exclusive_or = tile.shfl_xor(t, Size - 1);
  s.any = tile.any(key(t) == 1), s.all = tile.all(key(t) != 2), s.some = tile.all(1);
  s.ballot = tile.ballot(key(t) == 0);
  s.match = tile.match_any(key(t)), s.match_wide = tile.match_any((key(t) + 1ull) << 40);
  s.all_equal = tile.match_all(tile.meta_group_rank() * 1.5, s.equal);
  s.all_differ = tile.match_all(tile.thread_rank(), s.differ);
  unsigned first = t - tile.thread_rank();
  Odd odd{};
  for (int i = 0; i < 7; ++i) odd.bytes[i] = char(t + i);
  odd = tile.shfl(odd, Size - 1);
  s.wide_right = same(tile.shfl(wide(t), 0), wide(first)) &&
                 tile.shfl(short(t), Size / 2) == short(first + Size / 2) &&
                 tile.shfl_down(double(t), 0) == double(t);
  for (int i = 0; i < 7; ++i) s.wide_right &= odd.bytes[i] == char(first + Size - 1 + i);
  tile.sync();
  return s;
}

template <unsigned Size>
__global__ void by_type(Seen* seen) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  static_assert(decltype(tile)::num_threads() == Size, "the size is known to the compiler");
  seen[threadIdx.x] = look<Size>(tile, threadIdx.x);
}

template <unsigned Size>
__global__ void by_handle(Seen* seen) {
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  cg::thread_block_tile<Size> tile = cg::tiled_partition<Size>(warp);
  seen[threadIdx.x] = look<Size>(tile, threadIdx.x);
}

Seen expected(unsigned t, unsigned size, bool of_warp) {
  Seen s{};
  unsigned rank = t % size, first = t - rank;
  s.rank = rank, s.size = size;
  s.meta_rank = (of_warp ? t % 32 : t) / size, s.meta_size = (of_warp ? 32 : threads) / size;
  s.idx = (first + size / 2 % size) * 3;
  s.up = rank >= 1 ? t - 1 : t, s.down = rank + 2 < size ? t + 2 : t;
  s.exclusive_or = first + (rank ^ (size - 1));
  s.all = 1, s.some = 1;
  for (unsigned r = 0; r < size; ++r) {
    s.any |= key(first + r) == 1, s.all &= key(first + r) != 2;
    s.ballot |= unsigned(key(first + r) == 0) << r;
    s.match |= unsigned(key(first + r) == key(t)) << r;
  }
  s.match_wide = s.match;
  s.all_equal = size == 32 ? ~0u : (1u << size) - 1, s.equal = 1;
  s.all_differ = size == 1, s.differ = size == 1;
  s.wide_right = 1;
  return s;
}

template <unsigned Size>
void run() {
  for (bool of_warp : {false, true}) {
    Buffer<Seen> seen(threads);
    if (of_warp)
      by_handle<Size><<<1, threads>>>(seen);
    else
      by_type<Size><<<1, threads>>>(seen);
    int wrong = 0;
    for (unsigned t = 0; t < threads; ++t) {
      Seen wanted = expected(t, Size, of_warp);
      const auto* a = reinterpret_cast<const unsigned*>(&seen.read()[t]);
      const auto* b = reinterpret_cast<const unsigned*>(&wanted);
      for (unsigned i = 0; i < sizeof(Seen) / 4; ++i)
        if (a[i] != b[i] && !wrong++)
          std::printf("thread %u field %u: %u, not %u\n", t, i, a[i], b[i]);
    }
    std::printf("tile<%u> of %s: %s\n", Size,
                of_warp ? "a warp, parent in the handle" : "the block", wrong ? "WRONG" : "right");
  }
}

__global__ void lone(int* out) {
  auto me = cg::this_thread();
  me.sync();
  out[threadIdx.x] = int(me.num_threads() + me.thread_rank() + me.meta_group_rank()) +
                     me.shfl(int(threadIdx.x), 0) + int(me.meta_group_size()) +
                     int(me.ballot(1) + me.any(1));
}

int main() {
  run<1>(), run<2>(), run<4>(), run<8>(), run<16>(), run<32>();
  Buffer<int> out(40);
  lone<<<1, 40>>>(out);
  bool right = true;
  for (int t = 0; t < 40; ++t) right &= out.read()[t] == t + 4;
  std::printf("this_thread: %s\n", right ? "right" : "WRONG");
}
