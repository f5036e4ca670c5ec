#include <cstdio>
#include <inflight/groups.cuh>
#include <inflight/memcpy_async.cuh>

constexpr int threads = 64;

__global__ void kernel(int* out, const int* in) {
  __shared__ int numbers[threads], copied[threads];
  __shared__ inflight::barrier<> ready;
  auto block = inflight::this_thread_block();
  const int me = threadIdx.x;
  if (me == 0) ready.init(threads);
  block.sync();

  // The first phase: threads meet, and do something else between arriving and waiting.
  numbers[me] = me * me;
  auto token = ready.arrive();
  int result = in[me];
  ready.wait(token);
  result += numbers[threads - 1 - me];

  // The second: copies arrive too. The phase ends when all threads have come and all bytes are
  // there.
  inflight::memcpy_async(block, copied, in, sizeof copied, ready);
  ready.arrive_and_wait();
  out[me] = result + copied[(me + 1) % threads];
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, threads * sizeof(int));
  cudaMallocManaged(&out, threads * sizeof(int));
  for (int i = 0; i < threads; ++i) in[i] = 1000 * i;
  kernel<<<1, threads>>>(out, in);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf("%d %d ... %d\n", out[0], out[1], out[threads - 1]);
}
