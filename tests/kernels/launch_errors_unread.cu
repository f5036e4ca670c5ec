// stderr: kernel fill\(int\*\) cannot be launched: blocks of 2048 .*\(2 times\)\. Nothing in the program has read this error
// stderr: kernel fill\(int\*\) cannot be launched: 100000 bytes of shared memory per block .* allowed .*\)\. Nothing in
// Launches by <<<>>> that fail. Those whose error the program has read, and one of a function that
// returns it, are not reported.
#include <thread>

#include "tests/kernels/kernel_test.cuh"

__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  Buffer<int> out(4096);
  int* to = out;
  fill<<<1, 2048>>>(to);
  SAY(cudaGetLastError());
  fill<<<1, 32>>>(to);
  SAY(cudaPeekAtLastError());

  fill<<<1, 2048>>>(to);
  fill<<<1, 32, 100000>>>(to);
  std::thread([&] { fill<<<1, 2048>>>(to); }).join();
  SAY(cudaDeviceSynchronize());
  void* arguments[] = {&to};
  SAY(cudaLaunchKernel(reinterpret_cast<const void*>(fill), 1, 2048, arguments));
}
