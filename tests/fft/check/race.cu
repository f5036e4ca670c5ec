// flags: -Xlinker -l:libcufft.so.12
// A transform in one stream reads memory that a kernel in another stream writes, without order
// between them. A later kernel does not see the transform's output as uninitialised memory.
#include <cufft.h>

__global__ void fill(cufftComplex* x) { x[threadIdx.x] = {1, 0}; }
__global__ void add(const cufftComplex* x, float* y) { y[threadIdx.x] += x[threadIdx.x].x; }

int main() {
  constexpr int n = 64;
  cufftComplex *x, *z;
  float* y;
  cudaMalloc(&x, n * sizeof(*x));
  cudaMalloc(&y, n * sizeof(*y));
  cudaMemset(y, 0, n * sizeof(*y));
  cudaDeviceSynchronize();
  cudaStream_t writer, reader;
  cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking);
  cufftHandle plan;
  cufftPlan1d(&plan, n, CUFFT_C2C, 1);
  cufftSetStream(plan, reader);
  fill<<<1, n, 0, writer>>>(x);
  cudaMallocAsync(&z, n * sizeof(*z), reader);
  cufftExecC2C(plan, x, z, CUFFT_FORWARD);
  add<<<1, n, 0, reader>>>(z, y);
  cudaDeviceSynchronize();
}
