// Softmax of rows of 8192 floats at the speed of memory. A block takes a row, and each thread keeps
// its 16 elements in registers, so that memory is read once.
#include <cmath>
#include <inflight/collective_scratch.cuh>
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>

#include "examples/measure.cuh"

constexpr int columns = 8192, threads = 512, vectors = columns / 4 / threads;

__global__ void __launch_bounds__(threads) softmax(float4* out, const float4* in) {
  __shared__ inflight::block_scratch<float, threads> scratch;
  const std::size_t first = std::size_t{blockIdx.x} * (columns / 4) + threadIdx.x;
  float4 x[vectors];
#pragma unroll
  for (int i = 0; i < vectors; ++i) x[i] = __ldcs(in + first + i * threads);
  auto block = inflight::with_scratch(inflight::this_thread_block(), scratch);

  float most = -INFINITY, sum = 0;
  for (float4 v : x) most = fmaxf(fmaxf(fmaxf(most, v.x), fmaxf(v.y, v.z)), v.w);
  most = inflight::reduce(block, most, inflight::greater<float>());
  for (float4& v : x) {
    v = {__expf(v.x - most), __expf(v.y - most), __expf(v.z - most), __expf(v.w - most)};
    sum += (v.x + v.y) + (v.z + v.w);
  }
  const float by = 1 / inflight::reduce(block, sum, inflight::plus<float>());
#pragma unroll
  for (int i = 0; i < vectors; ++i)
    __stcs(out + first + i * threads, {x[i].x * by, x[i].y * by, x[i].z * by, x[i].w * by});
}

int main(int argc, char** argv) {
  const unsigned rows = measures(argc, argv) ? 8192 : 40;
  const std::size_t n = std::size_t{rows} * columns;
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = float(unsigned(i * 2654435761u) >> 16) / 4096 - 8;
  auto* const in = reinterpret_cast<const float4*>(device_copy(values));
  auto* const out = reinterpret_cast<float4*>(device_copy(std::vector<float>(n)));
  const auto run = [&] { softmax<<<rows, threads>>>(out, in); };
  const double seconds = seconds_of(run);
  const std::vector<float> got = host_copy(reinterpret_cast<float*>(out), n);
  bool right = true;
  for (std::size_t row = 0; row < n; row += columns) {
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += std::exp(double(values[row + i]));
    for (int i = 0; i < columns; ++i) {
      const double wanted = std::exp(double(values[row + i])) / sum;
      right = right && std::abs(got[row + i] - wanted) <= 1e-5 * wanted;
    }
  }
  if (measures(argc, argv)) measure_beside_copy("softmax", out, in, n * sizeof(float), run);
  return report("softmax of rows of 8192 floats", 8.0 * n, seconds, right) ? 0 : 1;
}
