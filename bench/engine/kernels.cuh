// The four kernels that every engine runs, in CUDA. kernels.cl has them in OpenCL.
#pragma once

inline constexpr int tile = 16;
inline constexpr int reduce_block = 256;

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void sgemm(int n, const float* a, const float* b, float* c) {
  __shared__ float as[tile][tile], bs[tile][tile];
  int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void reduce(const float* in, float* out) {
  __shared__ float s[reduce_block];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * reduce_block + t];
  __syncthreads();
  for (int w = reduce_block / 2; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// One compare-exchange pass of the bitonic network.
__global__ void bitonic(unsigned* keys, int j, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other > i) {
    unsigned a = keys[i], b = keys[other];
    if ((a > b) == ((i & k) == 0)) {
      keys[i] = b;
      keys[other] = a;
    }
  }
}
