// Lanes of a warp copy to overlapping bytes by one instruction: their step is half a copy.
#include "tests/kernels/check/ptx_macros.cuh"

constexpr int threads = 32;

template <int step>
__global__ void overlap(const int4* in, int* out) {
  __shared__ int4 tile[threads];
  const unsigned t = threadIdx.x;
  COPY(&tile[t * step / 16], in + t, 16);  // [copy]
  COMMIT();
  WAIT_GROUP(0);
  __syncwarp();
  out[t] = tile[t * step / 16].x;
}

// The lanes past the end of the row copy its last element too.
__global__ void clamped(const int4* in, int* out, unsigned columns) {
  __shared__ int4 tile[threads];
  const unsigned t = threadIdx.x, column = t < columns ? t : columns - 1;
  COPY(&tile[column], in + column, 16);
  COMMIT();
  WAIT_GROUP(0);
  __syncwarp();
  out[t] = tile[column].x;
}

// Lanes swap their elements.
__global__ void swizzled(const int4* in, int* out) {
  __shared__ int4 tile[threads];
  const unsigned t = threadIdx.x;
  COPY(&tile[t ^ (t >> 2)], in + t, 16);
  COMMIT();
  WAIT_GROUP(0);
  out[t] = tile[t ^ (t >> 2)].x;
}

template <auto kernel>
void run() {
  Buffer<int4> in(threads);
  Buffer<int> out(threads);
  kernel<<<1, threads>>>(in, out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<overlap<8>>},
                   {"twin", run<overlap<16>>},
                   {"clamped_twin",
                    [] {
                      Buffer<int4> in(threads);
                      Buffer<int> out(threads);
                      clamped<<<1, threads>>>(in, out, 20);
                      out.read();
                    }},
                   {"swizzled_twin", run<swizzled>}});
}
