// Direct use of cp.async: every size and cache, zero fill, ignoring, prefetch sizes, policies,
// groups.
#include <inflight/copy.cuh>
#include <inflight/pipeline_primitives.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int threads = 64;
using Words = uint4;

// Each thread copies one piece of 16 bytes in the given `way`, and writes it out.
enum Way {
  by_4,
  by_8,
  by_16,
  by_16_all,
  prefetch_64,
  prefetch_128,
  prefetch_256,
  zero_fill_4,
  zero_fill_8,
  zero_fill_16,
  ignore,
  ignore_4,
  policy,
  policy_4,
  ways
};
const char* const names[] = {"4",      "8",        "16",          "16 .ca",      "64B",
                             "128B",   "256B",     "zero fill 4", "zero fill 8", "zero fill 16",
                             "ignore", "ignore 4", "policy",      "policy 4"};

template <int Bytes>
__device__ void in_pieces(char* to, const char* from) {
  for (int i = 0; i < 16; i += Bytes) inflight::cp_async<Bytes>(to + i, from + i);
}
template <int Bytes>
__device__ void with_zeros(char* to, const char* from, unsigned valid) {
  for (int i = 0; i < 16; i += Bytes) inflight::cp_async_zero_fill<Bytes>(to + i, from + i, valid);
}

template <int way>
__global__ void copy(Words* out, const Words* in, std::uint64_t hint) {
  using inflight::cache_operator;
  using inflight::l2_prefetch;
  __shared__ Words shared[threads];
  const unsigned t = threadIdx.x;
  char* to = reinterpret_cast<char*>(shared + t);
  const char* from = reinterpret_cast<const char*>(in + t);
  shared[t] = Words{1, 2, 3, 4};
  if constexpr (way == by_4) in_pieces<4>(to, from);
  if constexpr (way == by_8) in_pieces<8>(to, from);
  if constexpr (way == by_16) inflight::cp_async<16>(to, from);
  if constexpr (way == by_16_all) inflight::cp_async<16, cache_operator::all>(to, from);
  if constexpr (way == prefetch_64)
    inflight::cp_async<16, cache_operator::global, l2_prefetch::b64>(to, from);
  if constexpr (way == prefetch_128)
    inflight::cp_async<16, cache_operator::global, l2_prefetch::b128>(to, from);
  if constexpr (way == prefetch_256)
    inflight::cp_async<16, cache_operator::all, l2_prefetch::b256>(to, from);
  if constexpr (way == zero_fill_4) with_zeros<4>(to, from, t % 5);
  if constexpr (way == zero_fill_8) with_zeros<8>(to, from, t % 9);
  if constexpr (way == zero_fill_16) with_zeros<16>(to, from, t % 17);
  if constexpr (way == ignore) inflight::cp_async_ignore<16>(to, from, t % 2);
  if constexpr (way == ignore_4)
    for (int i = 0; i < 16; i += 4) inflight::cp_async_ignore<4>(to + i, from + i, t % 3 == 0);
  if constexpr (way == policy) inflight::cp_async_policy<16>(to, from, hint);
  if constexpr (way == policy_4)
    for (int i = 0; i < 16; i += 4) inflight::cp_async_policy<4>(to + i, from + i, hint);
  inflight::cp_async_commit();
  inflight::cp_async_wait<0>();
  out[t] = shared[t];
}

// Expected byte `b` of thread t's piece, given the source's.
template <int way>
unsigned char expected(unsigned t, unsigned b, unsigned char source) {
  bool zero = false;
  if (way == zero_fill_4) zero = b % 4 >= t % 5;
  if (way == zero_fill_8) zero = b % 8 >= t % 9;
  if (way == zero_fill_16) zero = b >= t % 17;
  if (way == ignore) zero = t % 2;
  if (way == ignore_4) zero = t % 3 == 0;
  return zero ? 0 : source;
}

template <int way>
void check() {
  std::vector<Words> values(threads);
  Random random(way);
  auto* bytes = reinterpret_cast<unsigned char*>(values.data());
  for (int i = 0; i < threads * 16; ++i) bytes[i] = static_cast<unsigned char>(random.next32());
  const std::vector<Words> source = values;
  Buffer<Words> in(source), out(threads);
  // The L2 policy that createpolicy.fractional.L2::evict_first with fraction 1.0 makes.
  copy<way><<<1, threads>>>(out, in, 0x12f0000000000000ull);
  const auto* got = reinterpret_cast<const unsigned char*>(out.read().data());
  bool right = true;
  for (unsigned i = 0; i < threads * 16; ++i)
    right &= got[i] == expected<way>(i / 16, i % 16, bytes[i]);
  std::printf("%s: %s\n", names[way], right ? "right" : "WRONG");
  if constexpr (way + 1 < ways) check<way + 1>();
}

// Three groups, a wait for all but the newest, and the C-style primitives.
__global__ void groups(int* out, const int* in) {
  __shared__ int stage[3][threads];
  const unsigned t = threadIdx.x;
  for (int g = 0; g < 3; ++g) {
    inflight::pipeline_memcpy_async<4>(&stage[g][t], in + g * threads + t);
    inflight::pipeline_commit();
  }
  inflight::pipeline_wait_prior<1>();
  out[t] = stage[0][t] + stage[1][t];
  inflight::cp_async_wait_all();
  out[threads + t] = stage[2][t];
  __syncthreads();
  // A size passed as an argument, and zeros after the bytes read.
  if (t < 3) {
    __shared__ __align__(16) int four[3][4];
    for (int& each : four[t]) each = -1;
    const std::size_t bytes = std::size_t{4} << t;
    inflight::pipeline_memcpy_async(four[t], in, bytes, bytes / 4);
    inflight::pipeline_commit();
    inflight::pipeline_wait_prior<0>();
    for (int i = 0; i < 4; ++i) out[2 * threads + 4 * t + i] = four[t][i];
  }
}

// The primitives' arrival: the barrier's phase waits for the copies of all threads.
__global__ void arrive_on(int* out, const int* in) {
  __shared__ int copied[threads];
  __shared__ inflight::barrier<> bar;
  if (threadIdx.x == 0) bar.init(threads);
  __syncthreads();
  inflight::pipeline_memcpy_async<4>(&copied[threadIdx.x], in + threadIdx.x);
  inflight::pipeline_arrive_on(&bar);
  bar.wait(bar.arrive());
  out[threadIdx.x] = copied[threads - 1 - threadIdx.x];
}

}  // namespace

int main() {
  check<0>();
  std::vector<int> values(3 * threads);
  for (int i = 0; i < 3 * threads; ++i) values[i] = i * i + 0x01010101;
  const std::vector<int> source = values;
  Buffer<int> in(source), out(3 * threads), reversed(threads);
  groups<<<1, threads>>>(out, in);
  out.read();
  bool right = true;
  for (int t = 0; t < threads; ++t)
    right &= out.host[t] == source[t] + source[threads + t] &&
             out.host[threads + t] == source[2 * threads + t];
  std::printf("groups: %s\n", right ? "right" : "WRONG");
  print("by size",
        std::vector<int>(out.host.begin() + 2 * threads, out.host.begin() + 2 * threads + 12), 4);
  arrive_on<<<1, threads>>>(reversed, in);
  reversed.read();
  right = true;
  for (int t = 0; t < threads; ++t) right &= reversed.host[t] == source[threads - 1 - t];
  std::printf("arrive on: %s\n", right ? "right" : "WRONG");
}
