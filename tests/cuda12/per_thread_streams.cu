// flags: --default-stream per-thread
// Programs with per-thread default streams call other names, also of what CUDA 12 has older forms
// of.
#include <thread>

#include "tests/kernels/kernel_test.cuh"

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }

void work(int* data, int value) {
  for (int i = 0; i < 10; ++i) add<<<1, 32>>>(data, value);
  CHECK(cudaStreamSynchronize(0));
}

int main() {
  Buffer<int> one(32), two(32);
  std::thread other(work, (int*)two, 2);
  work(one, 1);
  other.join();
  print("one", one.read(), 32);
  print("two", two.read(), 32);

  int* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, 128));
  CHECK(cudaMemPrefetchAsync(managed, 128, 0, 0));
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  CHECK(cudaStreamGetCaptureInfo(0, &status, &id));
  std::printf("capturing: %d\n", status != cudaStreamCaptureStatusNone);
  CHECK(
      cudaStreamBeginCapture(0, cudaStreamCaptureModeThreadLocal));  // the thread's own can capture
  CHECK(cudaMemsetAsync(managed, 1, 128, 0));
  CHECK(cudaStreamUpdateCaptureDependencies(0, nullptr, 0, cudaStreamSetCaptureDependencies));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(0, &graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  std::printf("captured %zu node\n", nodes);
  int runtime = 0;
  void* entry = nullptr;
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaGetDriverEntryPoint("cuMemcpyHtoDAsync", &entry, cudaEnableDefault, nullptr));
  std::printf("runtime %d, entry point %s\n", runtime / 1000, entry ? "found" : "missing");
}
