// Products of a warp by mma.sync: every type, factors that lie along rows and along columns of
// tiles, whole and half steps, sums as a factor of the next product, and stores of sums to tiles.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <inflight/matrix_fragment.cuh>
#include <vector>

namespace {

using inflight::fragment_use;
using inflight::swizzle;

template <class T, int Rows, int Columns>
using tile_of = inflight::swizzled_tile<
    T, Rows, Columns,
    Columns * sizeof(T) % 128 == 0 ? swizzle::b128
                                   : Columns * sizeof(T) == 64
                                         ? swizzle::b64
                                         : Columns * sizeof(T) == 32 ? swizzle::b32 : swizzle::none>;

template <class Sum, class T, class U, int K, int N, bool Columns>
__global__ void multiply(Sum* out, const T* a, const U* b) {
  inflight::matrix_fragment<fragment_use::a, T, 16, K> x;
  inflight::matrix_fragment<fragment_use::b, U, K, N> y;
  if constexpr (Columns) {
    __shared__ tile_of<T, K, 16> p;
    __shared__ tile_of<U, K, N> q;
    for (int i = threadIdx.x; i < 16 * K; i += 32) p(i % K, i / K) = a[i];
    for (int i = threadIdx.x; i < N * K; i += 32) q(i % K, i / K) = b[i];
    __syncwarp();
    inflight::load_columns(x, p, 0, 0);
    inflight::load_columns(y, q, 0, 0);
  } else {
    __shared__ tile_of<T, 16, K> p;
    __shared__ tile_of<U, N, K> q;
    for (int i = threadIdx.x; i < 16 * K; i += 32) p(i / K, i % K) = a[i];
    for (int i = threadIdx.x; i < N * K; i += 32) q(i / K, i % K) = b[i];
    __syncwarp();
    inflight::load_rows(x, p, 0, 0);
    inflight::load_rows(y, q, 0, 0);
  }
  // What ldmatrix loaded is what the coordinates say.
  bool same = true;
  x.each([&](int m, int k, T& v) { same = same && float(v) == float(a[m * K + k]); });
  y.each([&](int k, int n, U& v) { same = same && float(v) == float(b[n * K + k]); });
  inflight::accumulator_fragment<Sum, 16, N> sum;
  sum.fill(Sum(1));
  inflight::multiply_add(sum, x, y);
  sum.each([&](int m, int n, Sum& v) { out[m * N + n] = same ? v : Sum(-1); });
}

// out = (a * b) * c, where the sums of the first product are the second's factor; then in a tile.
template <class T>
__global__ void chain(float* out, const T* a, const T* b, const T* c) {
  __shared__ tile_of<T, 16, 16> p, q, r;
  __shared__ tile_of<T, 16, 16> rounded;
  __shared__ tile_of<float, 16, 16> whole;
  for (int i = threadIdx.x; i < 256; i += 32)
    p(i / 16, i % 16) = a[i], q(i / 16, i % 16) = b[i], r(i / 16, i % 16) = c[i];
  __syncwarp();
  inflight::matrix_fragment<fragment_use::a, T, 16, 16> x;
  inflight::matrix_fragment<fragment_use::b, T, 16, 16> y;
  inflight::load_rows(x, p, 0, 0);
  inflight::load_rows(y, q, 0, 0);
  inflight::accumulator_fragment<float, 16, 16> first, second;
  first.fill(0);
  second.fill(0);
  inflight::multiply_add(first, x, y);
  inflight::load_rows(y, r, 0, 0);
  inflight::multiply_add(second, inflight::as_factor<T>(first), y);
  inflight::store_rows(rounded, 0, 0, second);
  inflight::store_rows(whole, 0, 0, second);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32)
    out[i] = float(rounded(i / 16, i % 16)) == whole(i / 16, i % 16) ? whole(i / 16, i % 16) : -1;
}

template <class T>
T number(int value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(value);
  else
    return T(float(value));
}

template <class T>
struct numbers {
  explicit numbers(int count, unsigned seed) : value(static_cast<std::size_t>(count)) {
    const int least = std::is_same_v<T, std::uint8_t> ? 0 : -2;
    cudaMallocManaged(&device, value.size() * sizeof(T));
    for (std::size_t i = 0; i < value.size(); ++i) {
      seed = seed * 1664525u + 1013904223u;
      value[i] = least + int(seed / 65536 % 5);
      device[i] = number<T>(value[i]);
    }
  }
  std::vector<int> value;
  T* device;
};

template <class Sum, class T, class U, int K, int N, bool Columns = false>
void product(const char* what) {
  numbers<T> a(16 * K, 1);
  numbers<U> b(N * K, 2);
  Sum* out;
  cudaMallocManaged(&out, 16 * N * sizeof(Sum));
  multiply<Sum, T, U, K, N, Columns><<<1, 32>>>(out, a.device, b.device);
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  for (int m = 0; right && m < 16; ++m)
    for (int n = 0; n < N; ++n) {
      int wanted = 1;
      for (int k = 0; k < K; ++k) wanted += a.value[m * K + k] * b.value[n * K + k];
      right = right && float(out[m * N + n]) == float(wanted);
    }
  std::printf("%s, %d x %d: %s\n", what, K, N, right ? "right" : "WRONG");
}

template <class T>
void chained(const char* what) {
  numbers<T> a(256, 3), b(256, 4), c(256, 5);
  float* out;
  cudaMallocManaged(&out, 256 * sizeof(float));
  for (int i = 0; i < 256; ++i) {  // small enough that both types hold the sums
    a.device[i] = number<T>(a.value[i] = i % 17 == 0);
  }
  chain<T><<<1, 32>>>(out, a.device, b.device, c.device);
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  for (int m = 0; right && m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      int wanted = 0;
      for (int k = 0; k < 16; ++k)
        for (int j = 0; j < 16; ++j)
          wanted += a.value[m * 16 + k] * b.value[j * 16 + k] * c.value[n * 16 + j];
      right = right && out[m * 16 + n] == float(wanted);
    }
  std::printf("%s, one product after another: %s\n", what, right ? "right" : "WRONG");
}

}  // namespace

int main() {
  using s8 = std::int8_t;
  using u8 = std::uint8_t;
  product<float, __half, __half, 16, 8>("f16 to f32");
  product<float, __half, __half, 8, 16>("f16 to f32");
  product<float, __half, __half, 64, 32>("f16 to f32");
  product<__half, __half, __half, 32, 16>("f16 to f16");
  product<__half, __half, __half, 8, 8>("f16 to f16");
  product<float, __nv_bfloat16, __nv_bfloat16, 32, 64>("bf16");
  product<float, float, float, 8, 8>("tf32");
  product<float, float, float, 32, 24>("tf32");
  product<float, float, float, 4, 8>("tf32");
  product<int, s8, s8, 32, 8>("s8");
  product<int, s8, u8, 128, 16>("s8 and u8");
  product<int, u8, s8, 16, 8>("u8 and s8");
  product<int, u8, u8, 64, 8>("u8");
  product<float, __half, __half, 16, 16, true>("f16 along columns");
  product<float, __nv_bfloat16, __nv_bfloat16, 32, 64, true>("bf16 along columns");
  product<float, __half, __half, 8, 8, true>("f16 along columns");
  chained<__half>("f16");
  chained<__nv_bfloat16>("bf16");
}
