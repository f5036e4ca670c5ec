// options: --devices 2
// The default streams of two devices: each has its own order and numbers its work separately.
#include <chrono>
#include <thread>

#include "tests/kernels/check/check_test.cuh"

__global__ void writes(int* data, int first) {
  data[threadIdx.x] = first + threadIdx.x;  // [writes]
}

constexpr int count = 64;
constexpr std::size_t bytes = count * sizeof(int);
volatile int sink;

int* on_device(int device) {
  CHECK(cudaSetDevice(device));
  int* data = nullptr;
  CHECK(cudaMalloc(&data, bytes));
  return data;
}

// The second device writes where the first has written.
template <bool waits>
void hand_over() {
  int* const data = on_device(0);
  CHECK(cudaSetDevice(1));
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  CHECK(cudaSetDevice(0));
  cudaEvent_t written;
  CHECK(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
  writes<<<1, count>>>(data, 0);
  CHECK(cudaEventRecord(written));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // a delay is no order
  CHECK(cudaSetDevice(1));
  if (waits) CHECK(cudaStreamWaitEvent(nullptr, written));
  writes<<<1, count>>>(data, count);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(0));
}

// The host waits for a copy of the first device. The second has done more work, and has some left.
template <bool waits>
void fewer_copies() {
  int* host = nullptr;
  CHECK(cudaMallocHost(&host, bytes));
  int* const other = on_device(1);
  for (int i = 0; i < 20; ++i) CHECK(cudaMemsetAsync(other, i, bytes));
  CHECK(cudaDeviceSynchronize());
  int* const data = on_device(0);
  CHECK(cudaMemsetAsync(data, 0, bytes));
  CHECK(cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaSetDevice(1));
  CHECK(cudaMemsetAsync(other, 0, bytes));
  CHECK(cudaSetDevice(0));
  if (waits) CHECK(cudaStreamSynchronize(nullptr));
  sink = host[3];
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"hand_over", hand_over<false>},
                   {"hand_over_twin", hand_over<true>},
                   {"fewer_copies", fewer_copies<false>},
                   {"fewer_copies_twin", fewer_copies<true>}});
}
