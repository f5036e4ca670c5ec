// A large module for bench/launch: one kernel body under many template arguments. `nvcc -ptx` turns
// it into about two megabytes of text.
#include <utility>

template <int Variant>
__global__ void variant(int n, const float* a, const float* b, float* c) {
  constexpr int tile = 16;
  __shared__ float as[tile][tile], bs[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = Variant;
  for (int t = 0; t < n; t += tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x] + Variant;
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

template <int... V>
void* const* all(std::integer_sequence<int, V...>) {
  static void* const kernels[] = {reinterpret_cast<void*>(variant<V>)...};
  return kernels;
}
void* const* const kernels = all(std::make_integer_sequence<int, 480>{});
