// A pipeline of cp.async whose wait leaves one group too many in flight for the read.
#include <cuda/pipeline>

#include "tests/kernels/check/ptx_macros.cuh"

constexpr int threads = 64, tiles = 8, stages = 3;

// Each thread uses only its own elements, so no barrier is needed.
template <int allowed>
__global__ void stream(const int4* in, int4* out) {
  __shared__ int4 tile[stages][threads];
  const unsigned t = threadIdx.x;
  for (int s = 0; s < stages - 1; ++s) {
    COPY(&tile[s][t], in + s * threads + t, 16);  // [first copies]
    COMMIT();
  }
  for (int i = 0; i < tiles; ++i) {
    if (i + stages - 1 < tiles)
      COPY(&tile[(i + stages - 1) % stages][t], in + (i + stages - 1) * threads + t, 16);  // [copy]
    COMMIT();
    WAIT_GROUP(allowed);
    int4 v = tile[i % stages][t];  // [read]
    v.x += 1;
    out[i * threads + t] = v;
  }
  WAIT_ALL();
}

// The last groups of a loop without empty commits: with each tile, one group fewer is newer.
template <bool right>
__global__ void tail(const int4* in, int4* out) {
  __shared__ int4 tile[2][threads];
  const unsigned t = threadIdx.x;
  COPY(&tile[0][t], in + t, 16);
  COMMIT();
  for (int i = 0; i < 2; ++i) {
    if (i == 0) {
      COPY(&tile[1][t], in + threads + t, 16);  // [last copy]
      COMMIT();
    }
    if (right && i == 1)
      WAIT_GROUP(0);
    else
      WAIT_GROUP(1);
    out[i * threads + t] = tile[i][t];  // [last read]
  }
  WAIT_ALL();
}

template <auto kernel>
void run() {
  Buffer<int4> in(tiles * threads), out(tiles * threads);
  kernel<<<1, threads>>>(in, out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<stream<stages>>},
                   {"twin", run<stream<stages - 1>>},
                   {"stricter", run<stream<0>>},
                   {"tail", run<tail<false>>},
                   {"tail_twin", run<tail<true>>}});
}
