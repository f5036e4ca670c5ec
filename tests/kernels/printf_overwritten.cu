// stderr: bytes that kernels printed were overwritten
// A kernel prints more than printf's buffer holds before the host synchronises: the newest line is
// kept, and some others are lost.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/kernels/kernel_test.cuh"

constexpr int lines = 300000;

__global__ void talk(volatile int* done) {
  for (int i = 0; i < lines; ++i) printf("line %d\n", i);
  __threadfence_system();
  *done = 1;
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
  int* done = nullptr;
  CHECK(cudaMallocHost(&done, sizeof *done));
  *done = 0;
  std::FILE* const file = std::tmpfile();
  std::fflush(stdout);
  const int terminal = dup(1);
  dup2(fileno(file), 1);
  talk<<<1, 1>>>(done);
  while (!*(volatile int*)done) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const cudaError_t error = cudaDeviceSynchronize();
  std::fflush(stdout);
  dup2(terminal, 1);

  std::rewind(file);
  int count = 0, number = 0;
  bool newest = false;
  for (char text[64]; std::fgets(text, sizeof text, file);) {
    if (std::sscanf(text, "line %d", &number) != 1) continue;
    newest |= number == lines - 1;
    ++count;
  }
  std::printf("%s\n", cudaGetErrorName(error));
  std::printf("some lines are there: %d, all: %d\n", count > 1000, count == lines);
  std::printf("the newest is there: %d\n", newest);
}
