// stderr: which kernels cannot write
// Registered memory that the host may only read: a kernel may read it and not write it.
#include <sys/mman.h>

#include "tests/kernels/kernel_test.cuh"

__global__ void read(const int* from, int* to) { *to = *from; }
__global__ void write(int* to) { *to = 7; }

int main() {
  constexpr int page = 4096;
  auto* const memory = static_cast<int*>(
      mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memory[0] = 41;
  mprotect(memory, page, PROT_READ);
  SAY(cudaHostRegister(memory, page, cudaHostRegisterReadOnly));
  Buffer<int> out(1);
  read<<<1, 1>>>(memory, out);
  std::printf("%d\n", out.read()[0]);
  write<<<1, 1>>>(memory);
  SAY(cudaDeviceSynchronize());
  std::printf("%d\n", memory[0]);
}
