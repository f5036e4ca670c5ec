// flags: -rdc=true -lcudadevrt
// async: late early
// software-only
// Copies and fills that kernels start are launches in their grid's streams.
#include <cstdio>

__global__ void says(const unsigned char* x) {
  printf("%x %x %x %x %x %x\n", x[0], x[63], x[64], x[127], x[128], x[135]);
  printf("%x %x %x %x\n", x[136], x[144], x[192], x[223]);
}

__global__ void copies(unsigned char* x) {
  printf("%d", cudaMemsetAsync(x, 0x11, 64));
  printf(" %d", cudaMemcpyAsync(x + 64, x, 64, cudaMemcpyDeviceToDevice));
  printf(" %d", cudaMemset2DAsync(x + 128, 16, 0x22, 8, 4));
  printf(" %d", cudaMemcpy2DAsync(x + 192, 8, x + 128, 16, 8, 4, cudaMemcpyDeviceToDevice));
  printf("\n");
  says<<<1, 1>>>(x);
}

__global__ void refused(unsigned char* x) {
  __shared__ char shared[16];
  char local[16];
  printf("to shared memory: %d\n", cudaMemsetAsync(shared, 0, 16));
  printf("to local memory: %d\n", cudaMemsetAsync(local, 0, 16));
  printf("to no memory: %d\n", cudaMemsetAsync(reinterpret_cast<void*>(16), 0, 16));
  printf("from null: %d\n", cudaMemcpyAsync(x, nullptr, 16, cudaMemcpyDeviceToDevice));
  printf("from the host: %d\n", cudaMemcpyAsync(x, x + 16, 16, cudaMemcpyHostToDevice));
  printf("nothing: %d\n", cudaMemsetAsync(nullptr, 0, 0));
}

int main() {
  unsigned char* x;
  cudaMalloc(&x, 256);
  cudaMemset(x, 0, 256);
  copies<<<1, 1>>>(x);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  refused<<<1, 1>>>(x);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
