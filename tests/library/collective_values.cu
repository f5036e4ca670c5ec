// reduce and the scans of types other than numbers: structures of 3 to 32 bytes, half, operators
// that do not commute, lambdas, and operators with another result type.
#include "collective_reference.cuh"

constexpr unsigned threads = 64;

template <class T, class Op>
__global__ void groups(const T* in, Results<T>* out, Op op) {
  const T value = in[threadIdx.x];
  auto block = inflight::this_thread_block();
  out[threadIdx.x] = all_three(inflight::tiled_partition<32>(block), value, op);
  out[threads + threadIdx.x] = all_three(inflight::tiled_partition<4>(block), value, op);
  if (threadIdx.x % 32 < 21)
    out[2 * threads + threadIdx.x] = all_three(inflight::coalesced_threads(), value, op);
}

template <class T, class Op>
void test(const char* name, Op op) {
  Buffer<T> in(make_values<T>(threads, 11));
  Buffer<Results<T>> out(3 * threads);
  groups<<<1, threads>>>(in.device, out.device, op);
  auto& got = out.read();
  int errors[3] = {};
  for (unsigned first = 0; first < threads; first += 32) {
    errors[0] += wrong(in.host, got, ranks(first, 32), op);
    errors[2] += wrong(in.host, got, ranks(first, 21), op, 2 * threads);
  }
  for (unsigned first = 0; first < threads; first += 4)
    errors[1] += wrong(in.host, got, ranks(first, 4), op, threads);
  say(name, "tile<32>", errors[0]);
  say(name, "tile<4>", errors[1]);
  say(name, "21 threads", errors[2]);
}

// char + char is int; a lambda in the kernel; plus<>() on the types of its arguments.
__global__ void conversions(int* out) {
  auto tile = inflight::tiled_partition<32>(inflight::this_thread_block());
  const signed char value = 100;
  auto sum = inflight::reduce(tile, value, inflight::plus<>());
  static_assert(std::is_same_v<decltype(sum), int>, "of the type of op(value, value)");
  auto narrow = inflight::reduce(tile, value, inflight::plus<signed char>());
  static_assert(std::is_same_v<decltype(narrow), signed char>, "");
  float weight = tile.thread_rank();
  auto most = inflight::reduce(tile, weight, [](float a, float b) { return a > b ? a : b; });
  auto upto = inflight::inclusive_scan(tile, tile.thread_rank());
  auto below = inflight::exclusive_scan(tile, weight, inflight::plus<float>());
  bool odd = inflight::reduce(tile, weight > 30, inflight::bit_or<bool>());
  if (threadIdx.x == 31) {
    out[0] = sum, out[1] = narrow, out[2] = int(most), out[3] = int(upto), out[4] = int(below);
    out[5] = odd;
  }
}

// In floating point, a number wins over a NaN, and -0 is the lesser of two zeros.
__global__ void extremes(const float* in, float* out) {
  auto tile = inflight::tiled_partition<32>(inflight::this_thread_block());
  auto four = inflight::tiled_partition<4>(tile);
  const float value = in[threadIdx.x];
  const double wide = value;
  const float least[2] = {inflight::reduce(tile, value, inflight::less<float>()),
                          float(inflight::reduce(tile, wide, inflight::less<double>()))};
  const float most[2] = {inflight::reduce(tile, value, inflight::greater<float>()),
                         float(inflight::reduce(tile, wide, inflight::greater<double>()))};
  const float small = inflight::reduce(four, value, inflight::less<float>());
  const float large = inflight::reduce(four, value, inflight::greater<float>());
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) out[i] = least[i], out[2 + i] = most[i];
  if (threadIdx.x == 0) out[4] = small, out[5] = large;
}

int main() {
  test<Vector>("16 bytes, plus", inflight::plus<Vector>());
  test<Matrix>("32 bytes, a product", Product());
  test<Place>("12 bytes, the first of the greatest", First());
  test<Pixel>("3 bytes, a maximum", Brightest());
  test<__half>("half, plus", inflight::plus<__half>());

  Buffer<int> out(6);
  conversions<<<1, 32>>>(out.device);
  print("conversions", out.read());

  const float nan = __builtin_nanf("");
  for (const std::vector<float>& first :
       {std::vector<float>{nan, -nan, 2, 1}, std::vector<float>{0.f, -0.f, 0.f, -0.f},
        std::vector<float>{-3, -2, nan, -5}, std::vector<float>{7, -8, 9, -1}}) {
    std::vector<float> values(32, first[3]);
    std::copy(first.begin(), first.end(), values.begin());
    Buffer<float> in(values), result(6);
    extremes<<<1, 32>>>(in.device, result.device);
    print("least and greatest", result.read());
  }
}
