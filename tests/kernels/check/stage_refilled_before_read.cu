// A copy refills a stage while other threads may still read it.
#include "tests/kernels/check/ptx_macros.cuh"

constexpr int threads = 64, tiles = 6, stages = 2;

template <bool right>
__global__ void stream(const int4* in, int4* out) {
  __shared__ int4 tile[stages][threads];
  const unsigned t = threadIdx.x;
  COPY(&tile[0][t], in + t, 16);
  COMMIT();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) COPY(&tile[(i + 1) % stages][t], in + (i + 1) * threads + t, 16);  // [refill]
    COMMIT();
    WAIT_GROUP(1);
    __syncthreads();
    out[i * threads + t] = tile[i % stages][t ^ 32];  // [read]
    if (right) __syncthreads();
  }
}

template <auto kernel>
void run() {
  Buffer<int4> in(tiles * threads), out(tiles * threads);
  kernel<<<1, threads>>>(in, out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {{"mistake", run<stream<false>>}, {"twin", run<stream<true>>}});
}
