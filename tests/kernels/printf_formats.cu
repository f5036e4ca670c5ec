// printf from kernels: every conversion, flag and length, strings, more arguments than registers,
// and its return value, the number of arguments.
#include "tests/kernels/kernel_test.cuh"

__device__ const char message[] = "a device string";

__global__ void formats() {
  printf("plain text\n");
  printf("%d %i %u %x %X %o %c %%\n", -5, 6, 7u, 0xbeefu, 0xbeefu, 8u, 'z');
  printf("[%5d] [%-5d] [%05d] [%+d] [% d] [%#x] [%.3d]\n", 42, 42, 42, 42, 42, 42, 7);
  printf("%hd %ld %lld %llu\n", (short)-3, -5l, -6ll, 18446744073709551615ull);
  printf("%f %.2f %10.3f %-10.1f| %e %g %G %a\n", 1.5, 3.14159, 2.71828, 9.75, 12345.678, 0.0001,
         1e20, 0.5);
  printf("%s [%20s] [%-20s] [%.3s] %s\n", message, message, message, message, "literal");
  printf("%p %p\n", (void*)0x1234, (void*)nullptr);
  printf("%d %s %f %d %s %f %d %s %f\n", 1, "two", 3.0, 4, "five", 6.0, 7, "eight", 9.0);
  printf("%*d [%-*d]\n", 6, 1, 5, 2);
  int returned = printf("%d %d %d\n", 1, 2, 3);
  printf("returned %d, %d\n", returned, printf("none\n"));
  printf("%f %f %f\n", 1.0 / 0.0, -1.0 / 0.0, 0.0);
}

__global__ void by_lane() {
  if (threadIdx.x % 8 == 3)
    printf("lane %d of block %d says %llx\n", threadIdx.x, blockIdx.x, 1ull << threadIdx.x);
}

__global__ void nested(int depth) {
  for (int i = 0; i < depth; ++i) printf("%*s%d\n", i * 2, "", i);
}

int main() {
  formats<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  by_lane<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize());
  nested<<<1, 1>>>(4);
  CHECK(cudaDeviceSynchronize());
  std::printf("end\n");
}
