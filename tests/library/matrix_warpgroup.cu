// arch: sm_90a
// Products of a warpgroup: every type, the number of columns from 8 to 256, factors that lie along
// rows, along columns and in registers, and every swizzle, against sums made on the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdio>
#include <inflight/copy.cuh>
#include <inflight/dynamic_shared.cuh>
#include <inflight/launch.cuh>
#include <inflight/warpgroup_product.cuh>
#include <vector>

namespace {

using inflight::swizzle;
enum class lie { rows, columns, registers };

template <class T, int Outer, swizzle Mode, lie How>
struct factor {
  static constexpr int along = inflight::swizzle_span(Mode) / sizeof(T);
  static_assert(How != lie::columns || Outer % along == 0);
  using tile = std::conditional_t<How == lie::columns,
                                  inflight::swizzled_tile<T, along, along, Mode>,
                                  inflight::swizzled_tile<T, Outer, along, Mode>>;
  static constexpr int tiles = How == lie::columns ? Outer / along : 1;
  tile part[tiles];

  __device__ void set(int outer, int k, T value) {
    if constexpr (How == lie::columns)
      part[outer / along](k, outer % along) = value;
    else
      part[0](outer, k) = value;
  }
  __device__ auto operand() const {
    if constexpr (How == lie::columns)
      return inflight::matrix_columns(part);
    else
      return inflight::matrix_rows(part[0]);
  }
};

template <class Sum, class T, class U, int N, swizzle Mode, lie A, lie B>
__global__ void __launch_bounds__(128) multiply(Sum* out, const T* a, const U* b) {
  struct storage {
    factor<T, 64, Mode, A> a;
    factor<U, N, Mode, B> b;
  };
  constexpr int K = inflight::swizzle_span(Mode) / sizeof(T);
  auto& shared = inflight::dynamic_shared<storage>();
  for (int i = threadIdx.x; i < 64 * K; i += 128) shared.a.set(i / K, i % K, a[i]);
  for (int i = threadIdx.x; i < N * K; i += 128) shared.b.set(i / K, i % K, b[i]);
  inflight::release_to_async();
  __syncthreads();
  inflight::warpgroup_sum<Sum, N> sum;
  sum.clear();
  if constexpr (A == lie::registers) {
    inflight::matrix_fragment<inflight::fragment_use::a, T, 64, K> fragment;
    inflight::load_rows(fragment, shared.a.part[0], 0, 0);
    inflight::multiply_async(sum, fragment, shared.b.operand());
  } else {
    inflight::multiply_async(sum, shared.a.operand(), shared.b.operand());
  }
  auto& values = sum.wait();
  values.each([&](int row, int column, Sum& value) { out[row * N + column] = value; });
}

template <class T>
T number(int value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(value);
  else
    return T(float(value));
}

// Whether the kernel's sums are those made here.
template <class Sum, class T, class U, int N, swizzle Mode, lie A, lie B>
bool right() {
  constexpr int K = inflight::swizzle_span(Mode) / sizeof(T);
  const int least_a = std::is_same_v<T, std::uint8_t> ? 0 : -3;
  const int least_b = std::is_same_v<U, std::uint8_t> ? 0 : -3;
  std::vector<int> x(64 * K), y(N * K);
  unsigned seed = N;
  for (int& v : x) v = least_a + int((seed = seed * 1664525u + 1013904223u) / 65536 % 7);
  for (int& v : y) v = least_b + int((seed = seed * 1664525u + 1013904223u) / 65536 % 7);
  T* a;
  U* b;
  Sum* out;
  cudaMallocManaged(&a, x.size() * sizeof(T));
  cudaMallocManaged(&b, y.size() * sizeof(U));
  cudaMallocManaged(&out, 64 * N * sizeof(Sum));
  for (std::size_t i = 0; i < x.size(); ++i) a[i] = number<T>(x[i]);
  for (std::size_t i = 0; i < y.size(); ++i) b[i] = number<U>(y[i]);
  inflight::launch_shape shape;
  shape.block = {128};
  shape.shared = (64 + N) * 128 + 2048;
  cudaError_t error =
      inflight::launch_kernel(multiply<Sum, T, U, N, Mode, A, B>, shape, out, a, b);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  bool same = error == cudaSuccess;
  for (int m = 0; same && m < 64; ++m)
    for (int n = 0; n < N; ++n) {
      int wanted = 0;
      for (int k = 0; k < K; ++k) wanted += x[m * K + k] * y[n * K + k];
      same = same && float(out[m * N + n]) == float(wanted);
    }
  cudaFree(a), cudaFree(b), cudaFree(out);
  return same;
}

template <class Sum, class T, class U, int... N>
void columns(const char* what) {
  std::printf("%s:", what);
  ((std::printf(" %d%s", N,
                right<Sum, T, U, N, swizzle::b128, lie::rows, lie::rows>() ? "" : " WRONG")),
   ...);
  std::printf(", in registers%s",
              right<Sum, T, U, 32, swizzle::b128, lie::registers, lie::rows>() ? "" : " WRONG");
  std::printf(", b64%s", right<Sum, T, U, 32, swizzle::b64, lie::rows, lie::rows>() ? "" : " WRONG");
  std::printf(", b32%s\n",
              right<Sum, T, U, 32, swizzle::b32, lie::rows, lie::rows>() ? "" : " WRONG");
}

template <class Sum, class T, swizzle Mode>
void transposes(const char* what) {
  constexpr int n = Mode == swizzle::b128 ? 128 : 64;
  const bool all[] = {right<Sum, T, T, n, Mode, lie::columns, lie::rows>(),
                      right<Sum, T, T, n, Mode, lie::rows, lie::columns>(),
                      right<Sum, T, T, n, Mode, lie::columns, lie::columns>(),
                      right<Sum, T, T, n, Mode, lie::registers, lie::columns>()};
  std::printf("%s:", what);
  for (bool each : all) std::printf(" %s", each ? "right" : "WRONG");
  std::printf("\n");
}

}  // namespace

int main() {
  using e4m3 = __nv_fp8_e4m3;
  using e5m2 = __nv_fp8_e5m2;
  using s8 = std::int8_t;
  using u8 = std::uint8_t;
  columns<float, __nv_bfloat16, __nv_bfloat16, 8, 16, 24, 40, 104, 200, 248, 256>("bf16");
  columns<float, __half, __half, 8, 72, 256>("f16 to f32");
  columns<__half, __half, __half, 8, 16, 24, 104, 256>("f16 to f16");
  columns<float, float, float, 8, 120, 256>("tf32");
  columns<float, e4m3, e4m3, 8, 136, 256>("e4m3");
  columns<float, e5m2, e4m3, 8, 256>("e5m2 and e4m3");
  columns<__half, e4m3, e5m2, 8, 56, 256>("e4m3 and e5m2 to f16");
  columns<__half, e5m2, e5m2, 16>("e5m2 to f16");
  columns<int, s8, s8, 8, 24, 48, 240, 256>("s8");
  columns<int, u8, s8, 16>("u8 and s8");
  columns<int, s8, u8, 16>("s8 and u8");
  columns<int, u8, u8, 16>("u8");
  transposes<float, __nv_bfloat16, swizzle::b128>("along columns, bf16, b128");
  transposes<float, __half, swizzle::b64>("along columns, f16, b64");
  transposes<float, __nv_bfloat16, swizzle::b32>("along columns, bf16, b32");
  transposes<__half, __half, swizzle::b128>("along columns, f16 to f16, b128");
}
