// 16-bit floating-point numbers and pairs of them in reduce, the scans, updates, shuffles and
// matches, on every kind of group; fp8 where only bytes matter; a structure that holds pairs.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <inflight/collective_scratch.cuh>

#include "collective_reference.cuh"

struct Moments {
  __half2 sum;
  __nv_bfloat162 square;
  float weight;
};
template <>
inline constexpr bool inflight::moves_as_bytes<Moments> = true;

constexpr unsigned threads = 256;

template <class T>
constexpr bool is_pair = inflight::impl::is_half_pair<T>;

// Small integers, so that sums are exact in any order, even with the eight bits of a bfloat16.
template <class T>
T from_integers(int a, int b) {
  if constexpr (std::is_same_v<T, __half2>)
    return __floats2half2_rn(float(a), float(b));
  else if constexpr (std::is_same_v<T, __nv_bfloat162>)
    return __floats2bfloat162_rn(float(a), float(b));
  else
    return T(float(a));
}
template <class T>
std::vector<T> values() {
  Random random(3);
  std::vector<T> all;
  for (unsigned i = 0; i < threads; ++i) {
    const unsigned bits = random.next32() >> 8;
    all.push_back(from_integers<T>(int(bits % 3) - 1, int(bits / 3 % 3) - 1));
  }
  return all;
}

// The library's operator, and its equivalent on the host; for pairs, each half separately.
template <class T>
struct Least {
  using type = inflight::less<T>;
  T operator()(T a, T b) const {
    if constexpr (is_pair<T>)
      return T(float(b.x) < float(a.x) ? b.x : a.x, float(b.y) < float(a.y) ? b.y : a.y);
    else
      return float(b) < float(a) ? b : a;
  }
};
template <class T>
struct Greatest {
  using type = inflight::greater<T>;
  T operator()(T a, T b) const {
    if constexpr (is_pair<T>)
      return T(float(a.x) < float(b.x) ? b.x : a.x, float(a.y) < float(b.y) ? b.y : a.y);
    else
      return float(a) < float(b) ? b : a;
  }
};
template <class T>
struct Sum {
  using type = inflight::plus<T>;
  T operator()(T a, T b) const {
    if constexpr (is_pair<T>)
      return from_integers<T>(int(float(a.x) + float(b.x)), int(float(a.y) + float(b.y)));
    else
      return T(float(a) + float(b));
  }
};

template <class T, class Op>
__global__ void __launch_bounds__(threads) groups(const T* in, Results<T>* out, Op op) {
  __shared__ inflight::block_scratch<T, threads> scratch;
  const T value = in[threadIdx.x];
  const auto block = inflight::this_thread_block();
  Results<T>* const mine = out + threadIdx.x;
  mine[0 * threads] = all_three(inflight::tiled_partition<32>(block), value, op);
  mine[1 * threads] = all_three(inflight::tiled_partition<8>(block), value, op);
  mine[2 * threads] = all_three(inflight::tiled_partition<128>(block), value, op);
  auto team = inflight::with_scratch(block, scratch);
  mine[3 * threads] = all_three(team, value, op);
  if (threadIdx.x % 32 < 21)
    mine[4 * threads] = all_three(inflight::coalesced_threads(), value, op);
}

template <class T, class Op>
void test(const char* type, const char* name, Op op) {
  Buffer<T> in(values<T>());
  Buffer<Results<T>> out(5 * threads);
  groups<<<1, threads>>>(in.device, out.device, typename Op::type());
  auto& got = out.read();
  int errors = 0;
  const unsigned sizes[] = {32, 8, 128, threads};
  for (unsigned kind = 0; kind < 4; ++kind)
    for (unsigned first = 0; first < threads; first += sizes[kind])
      errors += wrong(in.host, got, ranks(first, sizes[kind]), op, kind * threads);
  for (unsigned first = 0; first < threads; first += 32)
    errors += wrong(in.host, got, ranks(first, 21), op, 4 * threads);
  say((std::string(type) + " " + name).c_str(), "all groups", errors);
}

// Counts shuffle results whose bytes differ from the source thread's value.
template <class T>
__global__ void shuffles(const T* in, unsigned* errors) {
  const auto differ = [](const T& a, const T& b) {
    const auto *x = reinterpret_cast<const unsigned char*>(&a),
               *y = reinterpret_cast<const unsigned char*>(&b);
    bool differs = false;
    for (unsigned i = 0; i < sizeof(T); ++i) differs |= x[i] != y[i];
    return differs;
  };
  const auto block = inflight::this_thread_block();
  const auto tile = inflight::tiled_partition<16>(block);
  const auto wide = inflight::tiled_partition<64>(block);
  const T value = in[threadIdx.x];
  const unsigned rank = tile.thread_rank(), first = threadIdx.x - rank;
  unsigned count = differ(tile.shfl(value, 5), in[first + 5]);
  count += differ(tile.shfl_up(value, 1), in[first + (rank == 0 ? 0 : rank - 1)]);
  count += differ(tile.shfl_down(value, 2), in[first + (rank >= 14 ? rank : rank + 2)]);
  count += differ(tile.shfl_xor(value, 3), in[first + (rank ^ 3)]);
  count += differ(wide.shfl(value, 40), in[threadIdx.x / 64 * 64 + 40]);
  if constexpr (sizeof(T) <= 8) {
    unsigned alike = 0;
    for (unsigned i = 0; i < 16; ++i)
      if (!differ(in[first + i], value)) alike |= 1u << i;
    count += tile.match_any(value) != alike;
  }
  const auto all = inflight::coalesced_threads();
  count += differ(all.shfl(value, 7), in[threadIdx.x / 32 * 32 + 7]);
  if (count != 0) atomicAdd(errors, count);
}
template <class T>
void travel(const char* name, const std::vector<T>& source) {
  Buffer<T> in(source);
  Buffer<unsigned> errors(1);
  shuffles<<<1, threads>>>(in.device, errors.device);
  say(name, "shuffles and matches", int(errors.read()[0]));
}
template <class T>
std::vector<T> any_bytes() {
  Random random(9);
  std::vector<T> all(threads);
  auto* const bytes = reinterpret_cast<unsigned char*>(all.data());
  for (std::size_t i = 0; i < threads * sizeof(T); ++i)
    bytes[i] = (unsigned char)(random.next32() >> 13 & 3);
  return all;
}

// The results for a NaN, an infinity and the two zeros.
template <class T>
__global__ void extremes(const T* in, float* out) {
  const auto block = inflight::this_thread_block();
  const auto tile = inflight::tiled_partition<32>(block);
  const auto four = inflight::tiled_partition<4>(block);
  const T value = in[threadIdx.x];
  const T all[] = {inflight::reduce(tile, value, inflight::less<T>()),
                   inflight::reduce(tile, value, inflight::greater<T>()),
                   inflight::reduce(four, value, inflight::less<T>()),
                   inflight::reduce(four, value, inflight::greater<T>())};
  if (threadIdx.x == 0)
    for (int i = 0; i < 4; ++i) out[i] = float(all[i]);
}
template <class T>
void extreme_values(const char* name) {
  const float nan = __builtin_nanf(""), infinite = __builtin_inff();
  for (const std::vector<float>& first :
       {std::vector<float>{nan, 2, -nan, 1}, std::vector<float>{0.f, -0.f, 0.f, -0.f},
        std::vector<float>{-3, -infinite, nan, -5}, std::vector<float>{7, -8, infinite, -1}}) {
    std::vector<T> source;
    for (unsigned i = 0; i < 32; ++i) source.push_back(T(first[i < 4 ? i : 3]));
    Buffer<T> in(source);
    Buffer<float> out(4);
    extremes<<<1, 32>>>(in.device, out.device);
    print(name, out.read());
  }
}

// A pair that groups share: their sums are added to one, and the greatest of each half kept in
// another.
template <class T>
__global__ void updates(const T* in, T* target) {
  const auto tile = inflight::tiled_partition<32>(inflight::this_thread_block());
  inflight::reduce_update_async(tile, target[0], in[threadIdx.x], inflight::plus<T>());
  inflight::reduce_update_async(tile, target[1], in[threadIdx.x], inflight::greater<T>());
}
template <class T>
void update_both(const char* name) {
  auto source = values<T>();
  source[77] = from_integers<T>(2, -1), source[99] = from_integers<T>(-1, 3);
  Buffer<T> in(source), target(std::vector<T>(2, from_integers<T>(0, 0)));
  updates<<<1, threads>>>(in.device, target.device);
  target.read();
  T sum = from_integers<T>(0, 0);
  for (const T& each : source) sum = Sum<T>()(sum, each);
  const auto is = [](const T& got, const T& wanted) {
    return float(got.x) == float(wanted.x) && float(got.y) == float(wanted.y);
  };
  say(name, "updates", !is(target.host[0], sum) + !is(target.host[1], from_integers<T>(2, 3)));
}

template <class T>
void numbers(const char* name) {
  test<T>(name, "plus", Sum<T>());
  test<T>(name, "less", Least<T>());
  test<T>(name, "greater", Greatest<T>());
  travel<T>(name, values<T>());
}

int main() {
  numbers<__half>("half");
  numbers<__nv_bfloat16>("bfloat16");
  numbers<__half2>("half2");
  numbers<__nv_bfloat162>("bfloat162");
  extreme_values<__half>("half");
  extreme_values<__nv_bfloat16>("bfloat16");
  update_both<__half2>("half2");
  update_both<__nv_bfloat162>("bfloat162");
  travel("fp8 e4m3", any_bytes<__nv_fp8_e4m3>());
  travel("fp8 e5m2 by four", any_bytes<__nv_fp8x4_e5m2>());
  travel("a structure of pairs", any_bytes<Moments>());
}
