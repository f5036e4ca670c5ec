// Layer normalisation of rows of 8192 floats at the speed of memory. A block takes a row, and each
// thread keeps its 16 elements in registers, so that memory is read once.
#include <cmath>
#include <inflight/collective_scratch.cuh>
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>

#include "examples/measure.cuh"

constexpr int columns = 8192, threads = 512, vectors = columns / 4 / threads;

__global__ void __launch_bounds__(threads)
    layernorm(float4* out, const float4* in, const float4* weight, const float4* bias) {
  __shared__ inflight::block_scratch<float, threads> scratch;
  const std::size_t first = std::size_t{blockIdx.x} * (columns / 4) + threadIdx.x;
  float4 x[vectors];
#pragma unroll
  for (int i = 0; i < vectors; ++i) x[i] = __ldcs(in + first + i * threads);
  auto block = inflight::with_scratch(inflight::this_thread_block(), scratch);

  float sum = 0, squares = 0;
  for (float4 v : x) sum += (v.x + v.y) + (v.z + v.w);
  const float mean = inflight::reduce(block, sum, inflight::plus<float>()) / columns;
  for (float4& v : x) {
    v = {v.x - mean, v.y - mean, v.z - mean, v.w - mean};
    squares += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
  }
  const float variance = inflight::reduce(block, squares, inflight::plus<float>()) / columns;
  const float by = rsqrtf(variance + 1e-5f);
#pragma unroll
  for (int i = 0; i < vectors; ++i) {
    const float4 v = x[i], w = weight[i * threads + threadIdx.x],
                 b = bias[i * threads + threadIdx.x];
    __stcs(out + first + i * threads, {v.x * by * w.x + b.x, v.y * by * w.y + b.y,
                                       v.z * by * w.z + b.z, v.w * by * w.w + b.w});
  }
}

int main(int argc, char** argv) {
  const unsigned rows = measures(argc, argv) ? 8192 : 40;
  const std::size_t n = std::size_t{rows} * columns;
  std::vector<float> values(n), w(columns), b(columns);
  for (std::size_t i = 0; i < n; ++i) values[i] = float(unsigned(i * 2654435761u) >> 16) / 4096 - 3;
  for (int i = 0; i < columns; ++i) w[i] = float(i % 7) - 3, b[i] = float(i % 5);
  const auto vectors_of = [](const auto& host) {
    return reinterpret_cast<float4*>(device_copy(host));
  };
  float4 *in = vectors_of(values), *weight = vectors_of(w), *bias = vectors_of(b);
  float4* const out = vectors_of(std::vector<float>(n));
  const auto run = [&] { layernorm<<<rows, threads>>>(out, in, weight, bias); };
  const double seconds = seconds_of(run);
  const std::vector<float> got = host_copy(reinterpret_cast<float*>(out), n);
  bool right = true;
  for (std::size_t row = 0; row < n; row += columns) {
    double mean = 0, squares = 0;
    for (int i = 0; i < columns; ++i) mean += double(values[row + i]) / columns;
    for (int i = 0; i < columns; ++i) squares += std::pow(values[row + i] - mean, 2);
    for (int i = 0; i < columns; ++i) {
      const double by = 1 / std::sqrt(squares / columns + 1e-5);
      const double wanted = (values[row + i] - mean) * by * w[i] + b[i];
      right = right && std::abs(got[row + i] - wanted) <= 1e-5 * (1 + std::abs(wanted));
    }
  }
  if (measures(argc, argv)) measure_beside_copy("layernorm", out, in, n * sizeof(float), run);
  return report("layer norm of rows of 8192 floats", 8.0 * n, seconds, right) ? 0 : 1;
}
