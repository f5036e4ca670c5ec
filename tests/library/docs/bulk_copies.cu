// arch: sm_90a
#include <cstdio>
#include <inflight/copy.cuh>

constexpr int threads = 128, count = 1024;

// Each block brings two arrays, multiplies them in place and sends the result away.
__global__ void multiply(float* out, const float* a, const float* b) {
  alignas(16) __shared__ float x[count], y[count];
  __shared__ inflight::barrier<> ready;
  if (threadIdx.x == 0) {
    ready.init(1);  // one arrival: this thread's. And the bytes that it announces
    inflight::transaction copies(ready);
    copies.load(x, a + blockIdx.x * count, sizeof x);
    copies.load(y, b + blockIdx.x * count, sizeof y);
    copies.arrive();
  }
  __syncthreads();       // all see the barrier
  ready.wait_parity(0);  // all see the bytes
  for (int i = threadIdx.x; i < count; i += threads) x[i] *= y[i];

  inflight::release_to_async();  // every thread that wrote
  __syncthreads();
  if (threadIdx.x == 0) {
    inflight::bulk_store(out + blockIdx.x * count, x, sizeof x);
    inflight::bulk_commit();
    inflight::bulk_wait_read();  // x must stay until it has been read; the block may end then
  }
}

int main() {
  const int blocks = 4, n = blocks * count;
  float *a, *b, *out;
  cudaMallocManaged(&a, n * sizeof(float));
  cudaMallocManaged(&b, n * sizeof(float));
  cudaMallocManaged(&out, n * sizeof(float));
  for (int i = 0; i < n; ++i) a[i] = float(i), b[i] = 2;
  multiply<<<blocks, threads>>>(out, a, b);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += out[i] != 2 * float(i);
  std::printf("%d of %d products wrong\n", wrong, n);
}
