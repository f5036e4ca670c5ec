// flags: -Xlinker -l:libcufft.so.12
// A complex-to-real transform of two dimensions overwrites its input, which a kernel in another
// stream reads, without order between them.
#include <cufft.h>

__global__ void add(const cufftComplex* x, float* y) { y[threadIdx.x] += x[threadIdx.x].x; }

int main() {
  constexpr int n = 8;
  cufftComplex* x;
  float *y, *z;
  cudaMalloc(&x, n * (n / 2 + 1) * sizeof(*x));
  cudaMalloc(&y, n * sizeof(*y));
  cudaMalloc(&z, n * n * sizeof(*z));
  cudaMemset(x, 0, n * (n / 2 + 1) * sizeof(*x));
  cudaMemset(y, 0, n * sizeof(*y));
  cudaDeviceSynchronize();
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cufftHandle plan;
  cufftPlan2d(&plan, n, n, CUFFT_C2R);
  cufftSetStream(plan, second);
  add<<<1, n, 0, first>>>(x, y);
  cufftExecC2R(plan, x, z);
  cudaDeviceSynchronize();
}
