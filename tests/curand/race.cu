// flags: -lcurand
// Random numbers are written in one stream while a kernel in another reads their place, without
// order between them. With an argument, an event orders the two.
#include <curand.h>

__global__ void sum(const float* x, float* y) { y[threadIdx.x] += x[threadIdx.x]; }

int main(int argc, char**) {
  constexpr int n = 64;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(*x));
  cudaMalloc(&y, n * sizeof(*y));
  cudaMemset(x, 0, n * sizeof(*x));
  cudaMemset(y, 0, n * sizeof(*y));
  cudaStream_t writer, reader;
  cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking);
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  curandSetStream(generator, writer);
  curandGenerateSeeds(generator);
  cudaDeviceSynchronize();
  curandGenerateUniform(generator, x, n);
  if (argc > 1) {
    cudaEvent_t made;
    cudaEventCreate(&made);
    cudaEventRecord(made, writer);
    cudaStreamWaitEvent(reader, made);
  }
  sum<<<1, n, 0, reader>>>(x, y);
  cudaDeviceSynchronize();
  curandDestroyGenerator(generator);
}
