// The source of a cp.async is written before the copy is known to be complete, by the thread that
// copies and by another.
#include "tests/kernels/check/ptx_macros.cuh"

template <bool right>
__global__ void own(int4* in, int* out) {
  __shared__ int4 tile[32];
  const unsigned t = threadIdx.x;
  COPY(&tile[t], in + t, 16);  // [copy]
  COMMIT();
  if (right) WAIT_GROUP(0);
  in[t].y = 7;  // [write]
  WAIT_GROUP(0);
  out[t] = tile[t].y;
}

template <bool right>
__global__ void others(int4* in, int* out) {
  __shared__ int4 tile[64];
  const unsigned t = threadIdx.x;
  COPY(&tile[t], in + t, 16);  // [their copy]
  COMMIT();
  if (right) WAIT_GROUP(0);
  __syncthreads();
  in[t ^ 32].y = 7;  // [their write]
  WAIT_GROUP(0);
  out[t] = tile[t].y;
}

template <auto kernel, int n>
void run() {
  Buffer<int4> in(64);
  Buffer<int> out(64);
  kernel<<<1, n>>>(in, out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"own", run<own<false>, 32>},
                   {"own_twin", run<own<true>, 32>},
                   {"others", run<others<false>, 64>},
                   {"others_twin", run<others<true>, 64>}});
}
