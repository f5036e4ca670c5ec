// reduce, inclusive_scan and exclusive_scan over tiles of 1 to 32 threads and over groups of any
// lanes: all integer types with all operators, floating point, and types of 3 to 32 bytes.
#include "collective_reference.cuh"

constexpr unsigned threads = 64;
__constant__ const unsigned lanes_chosen[2] = {0x80f0a5b7u, 0x00000100u};
const unsigned chosen[2] = {0x80f0a5b7u, 0x00000100u};

// Narrow integers move as words, so two sizes of tiles suffice for them.
template <class T>
constexpr bool all_sizes = sizeof(T) >= 4;

template <unsigned Size, class T, class Op>
__device__ void tile(const T& value, Results<T>* out, Op op) {
  auto group = inflight::tiled_partition<Size>(inflight::this_thread_block());
  out[threadIdx.x] = all_three(group, value, op);
}

template <class T, class Op>
__global__ void tiles(const T* in, Results<T>* out, Op op) {
  const T value = in[threadIdx.x];
  tile<8>(value, out + 3 * threads, op);
  tile<32>(value, out + 5 * threads, op);
  if constexpr (all_sizes<T>) {
    tile<1>(value, out, op);
    tile<2>(value, out + threads, op);
    tile<4>(value, out + 2 * threads, op);
    tile<16>(value, out + 4 * threads, op);
  }
  // Tiles that alone take a branch, and two groups of scattered lanes.
  if (threadIdx.x % 32 / 8 == 1 || threadIdx.x % 32 / 8 == 2) tile<8>(value, out + 6 * threads, op);
  __syncwarp();
  auto warp = inflight::tiled_partition<32>(inflight::this_thread_block());
  const bool side = lanes_chosen[threadIdx.x / 32] >> (threadIdx.x % 32) & 1;
  auto group = inflight::binary_partition(warp, side);
  out[7 * threads + threadIdx.x] = all_three(group, value, op);
  auto whole = inflight::binary_partition(warp, true);
  out[8 * threads + threadIdx.x] = all_three(whole, value, op);
  if (side) {
    auto few = inflight::coalesced_threads();
    out[9 * threads + threadIdx.x] = all_three(few, value, op);
  }
}

template <class T, class Op>
void test(const char* name, Op op) {
  Buffer<T> in(make_values<T>(threads, 5));
  Buffer<Results<T>> out(10 * threads);
  tiles<<<1, threads>>>(in.device, out.device, op);
  auto& got = out.read();
  int errors = 0;
  for (unsigned size = 1, slot = 0; size <= 32; size *= 2, ++slot)
    for (unsigned first = 0; first < threads && (all_sizes<T> || size == 8 || size == 32);
         first += size)
      errors += wrong(in.host, got, ranks(first, size), op, slot * threads);
  for (unsigned first : {8, 16, 40, 48})
    errors += wrong(in.host, got, ranks(first, 8), op, 6 * threads);
  say(name, "tiles", errors);
  errors = 0;
  for (unsigned warp = 0; warp < 2; ++warp) {
    std::vector<unsigned> sides[2];
    for (unsigned lane = 0; lane < 32; ++lane)
      sides[chosen[warp] >> lane & 1].push_back(32 * warp + lane);
    for (auto& side : sides) errors += wrong(in.host, got, side, op, 7 * threads);
    errors += wrong(in.host, got, ranks(32 * warp, 32), op, 8 * threads);
    errors += wrong(in.host, got, sides[1], op, 9 * threads);
  }
  say(name, "coalesced groups", errors);
}

template <class T>
void numbers(const char* name) {
  const std::string type = name;
  test<T>((type + " plus").c_str(), inflight::plus<T>());
  test<T>((type + " less").c_str(), inflight::less<T>());
  test<T>((type + " greater").c_str(), inflight::greater<T>());
  if constexpr (std::is_integral_v<T>) {
    test<T>((type + " bit_and").c_str(), inflight::bit_and<T>());
    test<T>((type + " bit_or").c_str(), inflight::bit_or<T>());
    test<T>((type + " bit_xor").c_str(), inflight::bit_xor<T>());
  }
}

int main() {
  numbers<signed char>("signed char");
  numbers<unsigned char>("unsigned char");
  numbers<short>("short");
  numbers<unsigned short>("unsigned short");
  numbers<int>("int");
  numbers<unsigned>("unsigned");
  numbers<long long>("long long");
  numbers<unsigned long long>("unsigned long long");
  numbers<float>("float");
  numbers<double>("double");
}
