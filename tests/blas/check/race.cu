// flags: -Xlinker -l:libcublas.so.13
// A cuBLAS call in one stream reads memory that a kernel in another stream writes, without order
// between them. A later kernel does not see the call's output as uninitialised memory.
#include <cublas_v2.h>

__global__ void fill(float* x, float value) { x[threadIdx.x] = value; }
__global__ void add(const float* x, float* y) { y[threadIdx.x] += x[threadIdx.x]; }

int main() {
  constexpr int n = 64;
  float *x, *y, one = 1;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(y, 0, n * sizeof(float));
  cudaDeviceSynchronize();
  cudaStream_t writer, reader;
  cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetStream(handle, reader);
  fill<<<1, n, 0, writer>>>(x, 1);
  cublasSaxpy(handle, n, &one, x, 1, y, 1);
  float* z;
  cudaMallocAsync(&z, n * sizeof(float), reader);
  cublasScopy(handle, n, y, 1, z, 1);
  add<<<1, n, 0, reader>>>(z, y);
  cudaDeviceSynchronize();
}
