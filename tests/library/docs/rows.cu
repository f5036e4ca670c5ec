#include <cmath>
#include <cstdio>
#include <inflight/collective_scratch.cuh>
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>

constexpr int rows = 4, columns = 1024, threads = 128, each = columns / threads;

// A block takes a row and reads it once: its elements stay in registers.
__global__ void softmax(float* out, const float* in) {
  __shared__ inflight::block_scratch<float, threads> scratch;
  const std::size_t first = std::size_t{blockIdx.x} * columns + threadIdx.x;
  float x[each], most = -INFINITY, sum = 0;
  for (int i = 0; i < each; ++i) x[i] = in[first + i * threads];  // all on their way together
  auto block = inflight::with_scratch(inflight::this_thread_block(), scratch);
  for (float v : x) most = fmaxf(most, v);
  most = inflight::reduce(block, most, inflight::greater<float>());
  for (float& v : x) sum += v = __expf(v - most);
  sum = inflight::reduce(block, sum, inflight::plus<float>());
  for (int i = 0; i < each; ++i) out[first + i * threads] = x[i] / sum;
}

int main() {
  float *in, *out;
  cudaMallocManaged(&in, rows * columns * sizeof(float));
  cudaMallocManaged(&out, rows * columns * sizeof(float));
  for (int i = 0; i < rows * columns; ++i) in[i] = i % columns == 7 ? 3.0f : 0.0f;
  softmax<<<rows, threads>>>(out, in);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf("element 7: %.6f, the others: %.6f\n", out[7], out[columns]);
}
