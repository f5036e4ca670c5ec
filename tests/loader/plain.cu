// A program built with nvcc's defaults: CUDA calls before main, in main, by several threads at
// once, and after main.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

__global__ void fill(int* to, int value) {
  to[threadIdx.x] = value + int(threadIdx.x);
  if (threadIdx.x == 0) printf("kernel: %d threads\n", blockDim.x);
}

struct BeforeMain {
  int devices = -1;
  BeforeMain() { cudaGetDeviceCount(&devices); }
} before_main;

struct AfterMain {
  int* memory = nullptr;
  AfterMain() { cudaMalloc(&memory, 64); }
  ~AfterMain() {
    std::printf("destructor: %s\n", cudaGetErrorName(cudaFree(memory)));
    std::fflush(stdout);
  }
};

void at_exit() {
  int value = 0;
  int* memory = nullptr;
  cudaMalloc(&memory, 32 * sizeof(int));
  fill<<<1, 32>>>(memory, 7);
  cudaMemcpy(&value, memory + 31, sizeof value, cudaMemcpyDeviceToHost);
  std::printf("atexit: %d\n", value);
  std::fflush(stdout);
}

int main() {
  std::printf("before main: %d\n", before_main.devices);
  static AfterMain after_main;
  std::atexit(at_exit);
  std::vector<int> results(4, -1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i, &results] {
      int* memory = nullptr;
      cudaStream_t stream = nullptr;
      cudaStreamCreate(&stream);
      cudaMallocAsync(&memory, sizeof(int), stream);
      cudaMemsetAsync(memory, i, 1, stream);
      cudaMemcpyAsync(&results[i], memory, 1, cudaMemcpyDeviceToHost, stream);
      cudaStreamSynchronize(stream);
      cudaFreeAsync(memory, stream);
      cudaStreamDestroy(stream);
    });
  }
  for (std::thread& each : threads) each.join();
  for (int each : results) std::printf("thread: %d\n", each & 255);
  cudaDeviceProp device{};
  cudaGetDeviceProperties(&device, 0);
  std::printf("device: %s\nlast error: %s\n", device.name, cudaGetErrorString(cudaGetLastError()));
}
